// Start the Chromium of this machine, and note what goes wrong in a page.
import { chromium } from "playwright-core";

const QUIET = ["disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync"];
const STEP_TIMEOUT_MS = 30_000;

async function openBrowser(executablePath) {
  const args = ["--no-sandbox", "--disable-gpu", ...QUIET.map((name) => `--${name}`)];
  const browser = await chromium.launch({ executablePath, args });
  const page = await browser.newPage({ viewport: { width: 1000, height: 800 } });
  page.setDefaultTimeout(STEP_TIMEOUT_MS);
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  return { browser, page, problems };
}

/** Play a conversation, take a picture of where it fails, and print what it returns as JSON. */
export async function drive(given, name, play) {
  const { browser, page, problems } = await openBrowser(given.chromium);
  const takePicture = (step) => page.screenshot({ path: `${given.screenshots}/${name}-${step}.png`, fullPage: true });
  try {
    console.log(JSON.stringify({ ...(await play(page, takePicture)), problems }, null, 1));
  } catch (error) {
    await takePicture("failed");
    console.error(`${error.message}\n${problems.join("\n")}\n${await page.locator("body").innerText()}`);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}

export const readMessages = (page, selector) =>
  page.locator(selector).evaluateAll((found) => found.map((each) => [each.className, each.textContent]));
