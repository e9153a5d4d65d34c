curl -X POST https://api.yocaso.dev/api/v1/llm/gateway/search-memories \
  -H "X-API-Key: sk_your_key_here" \
  -H "Content-Type: application/json" \
  -d '{
    "query": "dietary preferences"
  }'

curl -X POST https://api.yocaso.dev/api/v1/llm/gateway/list-memories \
  -H "X-API-Key: sk_your_key_here" \
  -H "Content-Type: application/json" \
  -d '{}'

curl -X POST https://api.yocaso.dev/api/v1/llm/gateway/get-memory \
  -H "X-API-Key: sk_your_key_here" \
  -H "Content-Type: application/json" \
  -d '{
    "memory_id": "mem_abc123"
  }'

curl -X POST https://api.yocaso.dev/api/v1/llm/gateway/update-memory \
  -H "X-API-Key: sk_your_key_here" \
  -H "Content-Type: application/json" \
  -d '{
    "memory_id": "mem_abc123",
    "memory": "User is vegetarian, avoids gluten, and prefers organic produce"
  }'

curl -X POST https://api.yocaso.dev/api/v1/llm/gateway/delete-memory \
  -H "X-API-Key: sk_your_key_here" \
  -H "Content-Type: application/json" \
  -d '{
    "memory_id": "mem_abc123"
  }'

curl -X POST https://api.yocaso.dev/api/v1/llm/gateway/delete-all-memories \
  -H "X-API-Key: sk_your_key_here" \
  -H "Content-Type: application/json" \
  -d '{}'

curl -X POST https://api.yocaso.dev/api/v1/llm/gateway/search-memories \
  -H "X-API-Key: sk_your_key_here" \
  -H "X-On-Behalf-Of: user_123" \
  -H "Content-Type: application/json" \
  -d '{
    "query": "exercise habits"
  }'