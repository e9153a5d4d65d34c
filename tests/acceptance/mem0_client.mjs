// Run by node beside a released npm mem0ai: drives every public method of its client; the last line is JSON.
// Arguments: the directory of the package, the key, the host.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

process.env.MEM0_TELEMETRY = "false";
const [directory, key, host] = process.argv.slice(2);
const require = createRequire(path.join(directory, "package.json"));
const { MemoryClient } = require("mem0ai");
const modern = JSON.parse(readFileSync(path.join(directory, "node_modules/mem0ai/package.json"), "utf8")).version.startsWith("3");
const me = "ana";
const absent = "7d4e1f6a-0000-4000-8000-000000000001";
const results = {};

async function step(name, work) {
  try {
    const value = await work();
    results[name] = "ok";
    return value;
  } catch (error) {
    results[name] = `${error.constructor.name}: ${String(error.message).slice(0, 150)}`;
    return undefined;
  }
}

async function refused(name, work) {
  try {
    await work();
    results[name] = "answered, where a refusal was expected";
  } catch (error) {
    results[name] = "refused";
  }
}

function same(found, wanted) {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new Error(`${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`);
  return found;
}

const listed = (found) => (Array.isArray(found) ? found : found.results);
const words = (one) => one.memory ?? one.data?.memory;
const ids = modern ? { userId: me } : { user_id: me };
const filters = { AND: [{ user_id: me }] };
const v2 = modern ? {} : { api_version: "v2" };

const client = await step("constructor", async () => {
  const made = new MemoryClient({ apiKey: key, host });
  await made.ping();
  return made;
});
const add = (text, more = {}) => client.add([{ role: "user", content: text }], { ...ids, infer: false, ...more }).then((found) => listed(found)[0]);
const getAll = (wanted, more = {}) => client.getAll({ filters: wanted, ...v2, ...more });

const item = await step("add", () => add("I love hiking in the mountains", { metadata: { source: "chat" } }));
const id = item?.id ?? absent;
await step("add, queued", async () => {
  await client.add([{ role: "user", content: "My sister is called Vera" }], modern ? { ...ids, runId: "r1" } : { ...ids, run_id: "r1" });
  for (let tries = 0; tries < 100; tries++) {
    if (listed(await getAll(filters)).length === 2) return;
    await new Promise((wake) => setTimeout(wake, 100));
  }
  throw new Error("what was queued was not learned");
});
await step("search", async () => same(words(listed(await client.search("outdoor hobbies", { filters, ...v2 }))[0]), "I love hiking in the mountains"));
if (modern) await step("search, camelCase filters", async () => same(listed(await client.search("outdoor hobbies", { filters: { userId: me } }))[0].id, id));
else await step("search, v1", async () => same(listed(await client.search("outdoor hobbies", ids))[0].id, id));
if (!modern) await step("getAll, v1", async () => same(listed(await client.getAll(ids)).length, 2));
await step("getAll", async () => same(listed(await getAll(filters)).length, 2));
await step("getAll, paged", async () => same(listed(await getAll(filters, modern ? { page: 2, pageSize: 1 } : { page: 2, page_size: 1 })).length, 1));
await step("get", async () => same((await client.get(id)).metadata, { source: "chat" }));
await step("update", () => client.update(id, { text: "I love cycling" }));
await step("history", async () => {
  const last = (await client.history(id)).at(-1);
  return same(last.newMemory ?? last.new_memory, "I love cycling");
});
await step("users", async () => same(new Set((await client.users()).results.map((one) => one.type)).has("user"), true));
await step("batchUpdate", () => client.batchUpdate([modern ? { memoryId: id, text: "I love rowing" } : { memoryId: id, text: "I love rowing" }]));
await step("getProject", () => client.getProject({ fields: [] }));
await step("updateProject", () => client.updateProject(modern ? { customInstructions: "Only sports." } : { custom_instructions: "Only sports." }));
const schema = { type: "object", properties: { likes: { type: "array" } } };
const made = await step("createMemoryExport", () => client.createMemoryExport({ schema, filters }));
await step("getMemoryExport", async () => same((await client.getMemoryExport(modern ? { memoryExportId: made.id } : { memory_export_id: made.id })).likes.includes("I love rowing"), true));
await step("feedback", () => client.feedback(modern ? { memoryId: id, feedback: "POSITIVE" } : { memory_id: id, feedback: "POSITIVE" }));
const project = client.projectId ?? undefined;
const hook = await step("createWebhook", () => client.createWebhook({ url: "https://example.com/hook", name: "hook", projectId: project, eventTypes: ["memory_add"] }));
await step("getWebhooks", async () => same((await client.getWebhooks({ projectId: project })).map((one) => one.name), ["hook"]));
const hookId = hook?.webhookId ?? hook?.webhook_id;
await step("updateWebhook", () => client.updateWebhook({ webhookId: hookId, name: "better", url: "https://example.com/hook", eventTypes: ["memory_add"] }));
await step("deleteWebhook", () => client.deleteWebhook({ webhookId: hookId }));
await refused("get, unknown", () => client.get(absent));
await refused("getAll, another's", () => getAll({ user_id: "victim" }));
await step("delete", () => client.delete(id));
const other = await step("add, for a batch", () => add("I love figs"));
await step("batchDelete", () => client.batchDelete([other.id]));
await step("deleteAll", () => client.deleteAll(ids));
await step("getAll, emptied", async () => same(listed(await getAll(filters)), []));
await add("I love tea");
await step("deleteUsers", () => client.deleteUsers(modern ? { userId: me } : { user_id: me }));
await step("users, emptied", async () => same((await client.users()).results, []));
console.log(JSON.stringify(results));
process.exit(0);
