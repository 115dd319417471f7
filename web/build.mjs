// Build each `src/main-NAME.tsx` into `NAME.js` and `NAME.css` of graph/pages/built, with the licences of what is in them.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";

const HERE = import.meta.dirname;
const BUILT = join(HERE, "../graph/pages/built");

/** Return the names of the pages, from their entry files. */
const listPages = () =>
  readdirSync(join(HERE, "src")).flatMap((name) => /^main-(.+)\.tsx$/.exec(name)?.[1] ?? []);

/** Return the folders of the packages that a bundle took modules of. */
function findPackages(chunk) {
  const folders = chunk.moduleIds.map((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]);
  return folders.filter(Boolean);
}

async function buildPage(name) {
  const { output } = await build({
    root: HERE,
    configFile: false,
    logLevel: "warn",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      write: false,
      target: "es2022",
      cssTarget: ["chrome123", "firefox120", "safari17.5"],
      cssCodeSplit: false,
      modulePreload: false,
      rollupOptions: { input: join(HERE, `src/main-${name}.tsx`), output: { format: "iife", codeSplitting: false } },
    },
  }).then((result) => (Array.isArray(result) ? result[0] : result));
  const script = output.find((part) => part.type === "chunk");
  const style = output.find((part) => part.fileName.endsWith(".css"));
  // The script is put inside a page, where these would end it or begin a comment.
  const code = script.code.trimEnd().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  writeFileSync(join(BUILT, `${name}.js`), `${code}\n`);
  writeFileSync(join(BUILT, `${name}.css`), `${String(style?.source ?? "").trimEnd()}\n`);
  return findPackages(script);
}

/** Return the licence texts of the packages, one after another. */
function readLicences(folders) {
  return [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((found) => /^licen[cs]e/i.test(found));
    const text = file ? readFileSync(join(folder, file), "utf8").trim() : `Licence: ${license}`;
    return `${name} ${version}\n\n${text}\n`;
  });
}

/** Return one hash of all that the built files are made of; graph/pages computes the same. */
function hashSource() {
  const names = readdirSync(join(HERE, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(HERE.length + 1));
  const hash = createHash("sha256");
  for (const name of [...names, "build.mjs", "package-lock.json"].sort()) {
    hash.update(`${name}\0`).update(readFileSync(join(HERE, name))).update("\0");
  }
  return hash.digest("hex");
}

rmSync(BUILT, { recursive: true, force: true });
mkdirSync(BUILT, { recursive: true });
const packages = [];
for (const name of listPages()) packages.push(...(await buildPage(name)));
writeFileSync(join(BUILT, "licences.txt"), readLicences(packages).join(`\n${"-".repeat(80)}\n\n`));
writeFileSync(join(BUILT, "source.sha256"), `${hashSource()}\n`);
