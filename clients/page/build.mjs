// Builds the page into a directory: one script, one style sheet, the document and its icon. The same source always
// gives the same bytes; what is built is committed, so that a machine without node serves the page.
import { copyFile, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const target = process.argv[2];
await mkdir(target, { recursive: true });
await build({
  entryPoints: { app: "src/main.ts", style: "src/style.css" },
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022", "safari16.4", "firefox115", "chrome111"],
  charset: "utf8",
  legalComments: "none",
  alias: { "runtime-memory-client": "../typescript/src/index.ts" },
  external: ["/memories/assets/*"],
  outdir: target,
});
for (const name of ["index.html", "icon.svg", "search.svg"]) await copyFile(join("src", name), join(target, name));

let sum = 0;
for (const name of await readdir(target)) {
  const { size } = await stat(join(target, name));
  sum += size;
  console.log(`${name} ${size}`);
}
console.log(`first view ${sum} bytes, before compression`);
