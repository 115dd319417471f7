// Open reports in Chromium: how long that takes, what axe finds, what the keyboard and a click do, and pictures.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const given = JSON.parse(process.argv[2]);
const require = createRequire(join(given.packages, "package.json"));
const { default: puppeteer } = await import(pathToFileURL(require.resolve("puppeteer-core")));
const axePath = require.resolve("axe-core/axe.min.js");

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 320, height: 700 };
const PHONE = { width: 390, height: 844 };
const MAX_ANSWER_TOP_PX = 320;
const PAPER = { width: 794, height: 1123 };

async function openPage(browser, file, { size = WIDE, scheme = "light", media = "screen", hash = "" } = {}) {
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("request", (request) => request.url().startsWith("file:") || problems.push(`asked for ${request.url()}`));
  await page.setViewport(size);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(pathToFileURL(file).href + hash);
  await page.waitForSelector("#summary");
  if (media === "print") {
    await page.emulateMediaType("print");
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  }
  return { page, problems };
}

/** Return the seconds from the request of the page to its first picture with the whole summary. */
async function measureOpening(browser, file) {
  const { page } = await openPage(browser, file);
  const ms = await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))),
  );
  await page.close();
  return ms / 1000;
}

/** Return what axe finds in a page: each rule that is broken, its weight, and where. */
async function checkAccess(page) {
  // The content policy forbids scripts; the protocol of the debugger is not bound by it.
  await page.evaluate(require("node:fs").readFileSync(axePath, "utf8"));
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, impact, nodes }) => `${impact}: ${id} at ${nodes[0].target.join(" ")} (${nodes.length})`);
}

/** Wait until the page has drawn what a key or a press has changed. */
const pause = () => new Promise((done) => setTimeout(done, 100));

/** Show how the answer was made. */
async function openMade(page) {
  await page.$eval("#made", (made) => (made.open = true));
  await pause();
}

/** Select a task, and open everything that can be opened. */
async function openAll(page) {
  await page.evaluate(() => {
    const task = document.querySelector(".card") ?? document.querySelector("main button.link");
    task.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  });
  for (let depth = 0; depth < 3; depth += 1) {
    await page.$$eval("details", (all) => all.forEach((details) => (details.open = true)));
    await pause();
  }
}

/** Return the names of a table's rows, of ordinary length, that are broken within. */
const findBrokenNames = (page) =>
  page.$$eval(".sortable th[scope=row] bdi", (names) =>
    names
      .filter((name) => /^[\w/.-]{1,20}$/.test(name.textContent) && name.getClientRects().length > 1)
      .map((name) => `${name.textContent} is broken in its table`),
  );

async function takePictures(browser, name, file) {
  const found = [];
  for (const [look, options] of Object.entries({
    light: {},
    dark: { scheme: "dark" },
    narrow: { size: NARROW },
    phone: { size: PHONE },
    opened: { isOpened: true },
    "opened-dark": { isOpened: true, scheme: "dark" },
    "opened-narrow": { isOpened: true, size: NARROW },
    printed: { size: PAPER, media: "print" },
  })) {
    const { page, problems } = await openPage(browser, file, options);
    if (options.isOpened) await openAll(page);
    await page.screenshot({ path: join(given.pictures, `${name}-${look}.png`), fullPage: true });
    if (options.isOpened) problems.push(...(await findBrokenNames(page)));
    const top = await page.evaluate(() => document.querySelector("#answer .markdown")?.getBoundingClientRect().top ?? 0);
    if (["phone", "light"].includes(look) && top > MAX_ANSWER_TOP_PX) problems.push(`the answer begins at ${top} px`);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (overflow > 0) problems.push(`${overflow} px wider than the window`);
    if (look !== "printed") found.push(...(await checkAccess(page)).map((text) => `${look}: ${text}`));
    found.push(...problems.map((text) => `${look}: ${text}`));
    await page.close();
  }
  return found;
}

/** Select a task by keyboard alone, and leave it again. */
async function useKeyboard(browser, file) {
  const { page, problems } = await openPage(browser, file);
  await openMade(page);
  const readFocus = () => page.evaluate(() => document.activeElement.getAttribute("data-path") ?? document.activeElement.className);
  await page.$eval(".card[tabindex='0']", (card) => card.focus());
  const first = await readFocus();
  await page.keyboard.press("ArrowRight");
  await pause();
  const second = await readFocus();
  await page.keyboard.press("Enter");
  await page.waitForSelector(".task-drawer");
  const inPanel = await readFocus();
  const pressed = await page.$$eval("[aria-pressed=true]", (all) => all.map((each) => each.tagName.toLowerCase()));
  await page.keyboard.press("Escape");
  await page.waitForSelector(".task-drawer", { hidden: true });
  const back = await readFocus();
  const readScale = () => page.$eval(".plan-drawing > g", (group) => Number(/scale\(([^)]+)\)/.exec(group.getAttribute("transform"))[1]));
  const before = await readScale();
  await page.keyboard.press("+");
  await pause();
  const isEnlarged = (await readScale()) > before;
  await page.close();
  return { first, second, inPanel, pressed, back, isEnlarged, problems };
}

/** Open a report at the task that its address names, and select another one. */
async function useAddress(browser, file, task) {
  const { page, problems } = await openPage(browser, file, { hash: `#task=${encodeURIComponent(task)}` });
  const opened = await page.$eval(".task-drawer h2", (title) => title.textContent);
  await page.click(".task-drawer header button");
  const closed = await page.evaluate(() => location.hash);
  await openMade(page);
  await page.click("button.timeline-name");
  await pause();
  const chosen = await page.evaluate(() => location.hash);
  await page.close();
  return { opened, closed, chosen, problems };
}

const browser = await puppeteer.launch({ executablePath: given.chromium, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const opening = {};
  const found = {};
  for (const [name, file] of Object.entries(given.reports)) {
    const seconds = [];
    for (let time = 0; time < 5; time += 1) seconds.push(await measureOpening(browser, file));
    opening[name] = seconds.sort((one, other) => one - other)[2];
    found[name] = await takePictures(browser, name, file);
  }
  const file = given.reports[given.keyboard];
  const [keyboard, address] = [await useKeyboard(browser, file), await useAddress(browser, file, given.task)];
  console.log(JSON.stringify({ opening, found, keyboard, address }));
} finally {
  await browser.close();
}
