// Drives the released TypeScript client, unmodified: one JSON call a line in, one JSON answer a line out.
// It was built for a browser, so a page is put up for it first.
import readline from "node:readline";
import { createRequire } from "node:module";
const { JSDOM } = createRequire(process.argv[3] + "/")("jsdom");

const { window } = new JSDOM("<!doctype html><body></body>", { url: "http://localhost/" });
globalThis.window = window;
globalThis.document = window.document;
for (const name of ["Event", "CustomEvent"]) globalThis[name] = window[name];
for (const name of Object.getOwnPropertyNames(window)) {
  if (!(name in globalThis) && name !== "XMLHttpRequest") globalThis[name] = window[name];
}
for (const name of ["log", "info", "warn", "error", "debug"]) console[name] = () => {};

const client = await import(process.argv[2]);
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { name, args } = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await client[name](...args)) ?? null };
  } catch (error) {
    answer = { error: error.message, status: error.response?.status ?? null, kind: error.name };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
process.exit(0);
