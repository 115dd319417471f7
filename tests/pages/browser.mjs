// Start a browser of this machine, and note what goes wrong in a page.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const given = JSON.parse(process.argv[2]);
const packages = createRequire(given.packages);
const { default: puppeteer } = await import(pathToFileURL(packages.resolve("puppeteer-core")).href);
const STEP_TIMEOUT_MS = 60_000;
const isFirefox = given.browser === "firefox";
const OPTIONS = isFirefox
  ? { defaultViewport: null, extraPrefsFirefox: { "browser.download.alwaysOpenPanel": false, "browser.download.folderList": 2, "browser.download.dir": given.downloads ?? "" } }
  : { downloadBehavior: given.downloads ? { policy: "allow", downloadPath: given.downloads } : undefined, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"] };

export { given };
export const axeSource = packages.resolve("axe-core/axe.min.js");

export async function openPage(browser, problems) {
  const page = await browser.newPage();
  page.setDefaultTimeout(STEP_TIMEOUT_MS);
  if (isFirefox) adaptToFirefox(page);
  await page.setViewport({ width: 1200, height: 900 });
  page.on("response", (answer) => answer.status() >= 500 && problems.push(`${answer.status()} ${answer.url()}`));
  page.on("pageerror", (error) => problems.push(`page: ${error.message}`));
  page.on("dialog", (dialog) => problems.push(`dialog: ${dialog.message()}`));
  page.on("console", (message) => {
    const said = `console: ${message.text()} ${message.location()?.url ?? ""}`.trim();
    // Aegra refuses to leave values out of the list of runs; the page then asks for whole threads.
    if (message.type() === "error" && !/ 422 .*\/threads\/search$/.test(said)) problems.push(said);
  });
  return page;
}

/** Resize a page though Firefox ESR 140 cannot turn its screen, and wait where the page's content policy does not reach. */
function adaptToFirefox(page) {
  page.waitForFunction = (...claim) => page.mainFrame().isolatedRealm().waitForFunction(...claim);
  const resize = page.setViewport.bind(page);
  page.setViewport = async (size) => {
    await resize(size).catch((error) => {
      if (!/unknown command emulation.setScreenOrientation/.test(error.message)) throw error;
    });
    await page.waitForFunction((width) => innerWidth === width, { polling: 20 }, size.width);
  };
}

/** Show the page dark, or as the system has it; Firefox has no command for what the system has. */
export async function showDark(page, isDark) {
  if (isFirefox) await page.evaluate((theme) => (document.documentElement.dataset.theme = theme), isDark ? "dark" : "");
  else await page.emulateMediaFeatures(isDark ? [{ name: "prefers-color-scheme", value: "dark" }] : []);
}

/** Refuse what a page asks of the network, until the function that is returned is called. */
export async function cutNetwork(page) {
  const refuse = (asked) => asked.abort();
  await page.setRequestInterception(true);
  page.on("request", refuse);
  return async () => {
    page.off("request", refuse);
    await page.setRequestInterception(false);
  };
}

/** Return the text of the first element, on one line. */
export const read = (page, selector) =>
  page.$eval(selector, (found) => found.innerText.replace(/\s+/g, " ").trim()).catch(() => "");

export const waitForText = (page, selector, words) =>
  page.waitForFunction(
    (each, pattern) => new RegExp(pattern).test(document.querySelector(each)?.innerText ?? ""),
    { polling: 100 },
    selector,
    words,
  );

export const press = async (page, words) => {
  const button = await page.waitForSelector(`::-p-xpath(//button[normalize-space()="${words}"])`);
  await button.click();
};

/** Write a request into the form of the page, with a file if one is named. */
export async function writeRequest(page, words, file) {
  await page.waitForSelector("textarea[name=request]");
  await page.type("textarea[name=request]", words);
  if (file) await (await page.$("input[type=file]")).uploadFile(file);
}

/** Throw if the keyboard has lost its place. */
export async function checkFocus(page, after) {
  await page.waitForFunction(() => document.activeElement !== document.body, { timeout: 5000, polling: 50 }).catch(() => {
    throw new Error(`the focus is lost after ${after}`);
  });
}

/** Return that axe has no serious finding; its script is run beside the page's content policy.
 *
 * @throws Error: it has some.
 */
export async function checkAccess(page) {
  await page.evaluate((await import("node:fs")).readFileSync(axeSource, "utf8"));
  const { violations } = await page.evaluate(() => axe.run());
  const serious = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).slice(0, 3)}`);
  if (serious.length) throw new Error(`axe: ${serious.join("; ")}`);
  return "no serious finding";
}

/** Play a story in a new browser; print what it returns, and the page where it breaks off. */
export async function drive(play) {
  const browser = await puppeteer.launch({ browser: isFirefox ? "firefox" : "chrome", executablePath: given.program, ...OPTIONS });
  const problems = [];
  const page = await openPage(browser, problems);
  const takePicture = (step, options = {}) =>
    page.screenshot({ path: `${given.screenshots}/${given.name}-${step}.png`, ...options });
  const steps = [];
  const note = (step, shown) => steps.push([step, shown]);
  try {
    await play({ browser, page, problems, takePicture, note });
    console.log(JSON.stringify({ steps, problems }, null, 1));
  } catch (error) {
    await takePicture("failed", { fullPage: true });
    console.error(`${error.stack}\n${JSON.stringify({ steps, problems }, null, 1)}\n${await read(page, "body")}`);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}
