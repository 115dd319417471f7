// Open the report of a run, and start a run on the live page: a picture of each in docs/images, and
// of the live run as many as can be taken, in a folder of their own, named by their milliseconds.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [live, report, frames, request, ...files] = process.argv.slice(2);
const packages = createRequire(new URL("../../web/package.json", import.meta.url));
const { default: puppeteer } = await import(pathToFileURL(packages.resolve("puppeteer-core")).href);
const IMAGES = new URL("../images/", import.meta.url).pathname;
const START_TIMEOUT_MS = 120_000;
const END_SHOWN_MS = 4_000;

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
});

async function openPage(address, theme) {
  const page = await browser.newPage();
  page.setDefaultTimeout(START_TIMEOUT_MS);
  await page.setViewport({ width: 1200, height: 800 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  const ends = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const shown = await page.goto(address).then((answer) => answer?.ok() ?? true, () => false);
    if (shown) return page;
    if (Date.now() > ends) throw new Error(`${address} cannot be opened`);
    await new Promise((wake) => setTimeout(wake, 500));
  }
}

/** Take pictures of a page until `stop` is called, and a last one then. */
function recordFrames(page) {
  const began = Date.now();
  let goesOn = true;
  const take = () => page.screenshot({ path: `${frames}/${String(Date.now() - began).padStart(7, "0")}.png` });
  const taking = (async () => {
    while (goesOn) await take();
  })();
  return async () => {
    goesOn = false;
    await taking;
    await take();
    await new Promise((wake) => setTimeout(wake, END_SHOWN_MS));
    await take();
  };
}

const takePicture = (page, name) => page.screenshot({ path: `${IMAGES}${name}.png`, optimizeForSpeed: false });

const waitForText = (page, selector, pattern) =>
  page.waitForFunction(
    (each, words) => new RegExp(words).test(document.querySelector(each)?.innerText ?? ""),
    { polling: 20 },
    selector,
    pattern,
  );

try {
  for (const theme of ["light", "dark"]) {
    const page = await openPage(pathToFileURL(report).href, theme);
    await waitForText(page, "main", "of \\d+ done");
    await takePicture(page, `report-${theme}`);
  }
  const page = await openPage(live, "light");
  await page.waitForSelector("#team option");
  await page.select("#team", "market_analysis");
  await page.type("textarea[name=request]", request);
  await (await page.$("input[type=file]")).uploadFile(...files);
  await page.waitForSelector("form button.primary:not(:disabled)");
  const stopRecording = recordFrames(page);
  await page.click("form button.primary");
  await waitForText(page, ".run-bar", "running");
  await waitForText(page, "main", "[1-9]\\d* of \\d+ done");
  await takePicture(page, "live-run");
  await waitForText(page, ".run-bar", "done");
  await stopRecording();
} finally {
  await browser.close();
}
