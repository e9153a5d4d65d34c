"""The Mem0 Platform dialect (contract 004): its words for people, applications, agents and runs, over our use cases."""
