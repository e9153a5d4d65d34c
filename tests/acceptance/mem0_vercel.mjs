// Run by node beside a released @mem0/vercel-ai-provider: adds and finds; the last line is JSON.
// Arguments: the directory of the package, the key, the host.
import { createRequire } from "node:module";
import path from "node:path";

const [directory, key, host] = process.argv.slice(2);
const require = createRequire(path.join(directory, "package.json"));
const { addMemories, getMemories, retrieveMemories, searchMemories } = require("@mem0/vercel-ai-provider");
const config = { mem0ApiKey: key, host, user_id: "ana" };

await addMemories([{ role: "user", content: [{ type: "text", text: "I love hiking in the mountains" }] }], { ...config, infer: false });
const listed = (found) => (Array.isArray(found) ? found : found.results);
const found = listed(await searchMemories("outdoor hobbies", config));
const got = listed(await getMemories("outdoor hobbies", config));
const text = await retrieveMemories("outdoor hobbies", config);
console.log(JSON.stringify({ found: found[0].memory, got: got.length, told: text.includes("I love hiking in the mountains") }));
process.exit(0);
