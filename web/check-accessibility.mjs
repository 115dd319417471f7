// Print the serious findings of axe for report files, with all of a page opened: node check-accessibility.mjs FILE...
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const AXE = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const VIEWS = [
  { scheme: "light", width: 1280 },
  { scheme: "dark", width: 1280 },
  { scheme: "light", width: 320 },
];
const SERIOUS = new Set(["serious", "critical"]);

/** Select the first task, and open everything that can be opened. */
async function openAll(page) {
  await page.evaluate(() => {
    document.querySelector("[data-path]")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  });
  await page.waitForSelector("aside h3");
  for (let depth = 0; depth < 3; depth += 1) {
    await page.evaluate(async () => {
      for (const details of document.querySelectorAll("details")) details.open = true;
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    });
  }
}

async function checkPage(browser, file, { scheme, width }) {
  const page = await browser.newPage();
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setViewport({ width, height: 900 });
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("#events");
  await openAll(page);
  await page.evaluate(AXE);
  const { violations } = await page.evaluate("axe.run()");
  const wide = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
  await page.close();
  const found = violations
    .filter(({ impact }) => SERIOUS.has(impact))
    .map(({ id, nodes }) => `${id}, ${nodes.length} times: ${nodes[0].html.slice(0, 160)}`);
  if (wide) found.push("the page is wider than its window");
  return found.map((finding) => `${file} (${scheme}, ${width} px): ${finding}`);
}

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const findings = [];
  for (const file of process.argv.slice(2)) {
    for (const view of VIEWS) findings.push(...(await checkPage(browser, file, view)));
  }
  findings.forEach((finding) => console.log(finding));
  process.exitCode = findings.length ? 1 : 0;
} finally {
  await browser.close();
}
