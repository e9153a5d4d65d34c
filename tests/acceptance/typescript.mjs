// Drives our TypeScript client as it was built: one JSON call a line in, one JSON answer a line out.
import readline from "node:readline";

const library = await import(process.argv[2]);
const [platform, runtime] = process.argv.slice(3);
const replacer = (_, value) => (value instanceof Blob ? undefined : value);

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { token, name, args, abort } = JSON.parse(line);
  const controller = new AbortController();
  if (abort) controller.abort(new Error("the caller gave up"));
  const client = new library.AgentRuntimesClient({ token, baseUrl: platform, runtimeUrl: runtime });
  let answer;
  try {
    const [of, called] = name.split(".");
    const value =
      of === "client"
        ? await client[called](...args, ...(abort ? [{ signal: controller.signal }] : []))
        : await library[name](...args, ...(abort ? [{ signal: controller.signal }] : []));
    answer = { value: value instanceof Blob ? JSON.parse(await value.text()) : (value ?? null) };
  } catch (error) {
    const { name: kind, message, status, code, detail, body } = error;
    answer = { error: message, kind, status, code, detail, body, responseStatus: error.response?.status };
  }
  process.stdout.write(JSON.stringify(answer, replacer) + "\n");
}
