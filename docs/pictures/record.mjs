// Open the report of a run, and start a run on the live page: pictures of them, of a proof, of a plan that waits and of
// two runs side by side in docs/images, and
// of the live run as many as can be taken, in a folder of their own, named by their milliseconds.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [live, report, frames, request, ...files] = process.argv.slice(2);
const packages = createRequire(new URL("../../web/package.json", import.meta.url));
const { default: puppeteer } = await import(pathToFileURL(packages.resolve("puppeteer-core")).href);
const IMAGES = new URL("../images/", import.meta.url).pathname;
const START_TIMEOUT_MS = 120_000;
const DRAWN_MS = 500;
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

/** Keep each frame that a page draws until the returned function is called, which waits for the last one to be seen. */
async function recordFrames(page) {
  const session = await page.createCDPSession();
  const pictures = [];
  session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
    pictures.push({ data, ms: Math.round(metadata.timestamp * 1000) });
    session.send("Page.screencastFrameAck", { sessionId }).catch(() => undefined); // the page may be closed
  });
  await session.send("Page.startScreencast", { format: "png", everyNthFrame: 1 });
  return async () => {
    await new Promise((wake) => setTimeout(wake, DRAWN_MS));
    await session.send("Page.stopScreencast");
    const [{ ms: began }] = pictures;
    const last = pictures.at(-1);
    for (const { data, ms } of [...pictures, { ...last, ms: last.ms + END_SHOWN_MS }])
      writeFileSync(`${frames}/${String(ms - began).padStart(7, "0")}.png`, Buffer.from(data, "base64"));
  };
}

const takePicture = (page, name) => page.screenshot({ path: `${IMAGES}${name}.png`, optimizeForSpeed: false });

/** Write the request into the form, for the team that the pictures are of. */
async function fillForm(page) {
  await page.waitForSelector("input[name=team]");
  await page.click("input[name=team][value=market_analysis]");
  await page.type("textarea[name=request]", request);
  await (await page.$("input[type=file]")).uploadFile(...files);
  await page.waitForSelector("form button.primary:not(:disabled)");
}

const press = async (page, selector) => (await page.waitForSelector(selector)).click();

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
  await fillForm(page);
  const stopRecording = await recordFrames(page);
  await page.click("form button.primary");
  await waitForText(page, ".run-bar", "running");
  await waitForText(page, ".alive", "begins");
  await takePicture(page, "live-run");
  await waitForText(page, ".run-bar", "done|passages");
  await stopRecording();
  await page.hover("#answer .mark.proved");
  await page.waitForSelector("#proof-card");
  await takePicture(page, "proof");
  await page.mouse.move(0, 0);
  await page.$eval("#plan", (plan) => (plan.closest("details").open = true));
  await press(page, "#plan [role=button]");
  await press(page, ".run-again summary");
  await page.waitForSelector(".run-again textarea");
  await page.$eval(".run-again textarea", (field) => field.select());
  await page.type(".run-again textarea", "Which company had the highest market capitalization in 2024?");
  await press(page, ".run-again button.primary");
  await page.waitForFunction(() => /at work|Run B/.test(document.querySelector("#answers")?.innerText ?? ""));
  await page.waitForFunction(() => !/at work|running/.test(document.querySelector("main").innerText));
  await takePicture(page, "compare");
  const editor = await openPage(`${live}#/`, "light");
  await fillForm(editor);
  await press(editor, "form > details > summary");
  await press(editor, "input[name=approve_plan]");
  await press(editor, "form button.primary");
  await editor.waitForSelector(".draft-graph");
  await takePicture(editor, "editor");
} finally {
  await browser.close();
}
