// Drives an official MCP client for JavaScript, unmodified: connects, makes calls, prints what each gave.
const [kind, url, headers, calls] = process.argv.slice(2);
const options = { requestInit: { headers: JSON.parse(headers) } };
const who = { name: "test", version: "1" };

let client;
let transport;
if (kind === "sdk") {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  client = new Client(who);
  transport = new StreamableHTTPClientTransport(new URL(url), options);
} else {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  client = new Client(who, kind === "auto" ? { versionNegotiation: { mode: "auto" } } : undefined);
  transport = new StreamableHTTPClientTransport(new URL(url), options);
}

const answers = [];
try {
  await client.connect(transport);
  for (const [method, ...args] of JSON.parse(calls)) {
    try {
      answers.push(await client[method](...args));
    } catch (error) {
      answers.push({ thrown: error.message, code: error.code ?? null });
    }
  }
  await client.close();
} catch (error) {
  answers.push({ refused: error.message, code: error.code ?? null });
}
process.stdout.write(JSON.stringify(answers));
process.exit(0);
