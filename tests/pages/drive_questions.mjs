// Reject a plan, draw in it, correct one that the server refuses, answer questions in two tabs, and stop one task of a run.
import { checkAccess, checkFocus, drive, given, openPage, press, read, showDark, waitForText } from "./browser.mjs";

const TEAM = "market_analysis";

async function send(path, body) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(given.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function startRun() {
  const { thread_id } = await send("/threads", {});
  const asked = { assistant_id: TEAM, input: { request: "Which coffee costs least?" } };
  await send(`/threads/${thread_id}/runs`, { ...asked, context: { approve_plan: true, ask_human: true } });
  return thread_id;
}

/** Pull the handle of one task onto another. */
async function draw(page, from, to) {
  const [x, y] = await findMiddle(page, `${box(from)} circle`);
  const [endX, endY] = await findMiddle(page, `${box(to)} rect`);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(endX, endY, { steps: 5 });
  await page.mouse.up();
}

async function findMiddle(page, selector) {
  const { x, y, width, height } = await (await page.waitForSelector(selector)).boundingBox();
  return [x + width / 2, y + height / 2];
}

const box = (id) => `.draft-box[aria-label*="${id} "]`;

/** Write into a field in place of what it holds. */
async function write(page, selector, words) {
  await page.$eval(selector, (field) => field.select());
  await page.type(selector, words);
}

await drive(async ({ browser, page, problems, takePicture, note }) => {
  const expect = (claim, words) => {
    if (!claim) throw new Error(words);
    note(words, true);
  };
  const thread = await startRun();
  await page.goto(`${given.url}/supervise/#/runs/${thread}`);
  await page.waitForSelector(".plan-editor");
  note("axe on a plan", await checkAccess(page));
  await takePicture("plan");

  await draw(page, "weights", "prices");
  await page.waitForSelector(`${box("prices")}[aria-label*="needs weights"]`);
  await draw(page, "prices", "weights");
  await waitForText(page, ".editor-tools", "weights cannot need prices");
  note("a circle is refused", await read(page, ".editor-tools [role=status]"));
  await page.click(`${box("ranking")} rect`);
  await page.$eval(box("ranking"), (found) => found.focus());
  await page.keyboard.press("ArrowLeft");
  const reached = await page.evaluate(() => document.activeElement.getAttribute("data-task"));
  expect(["prices", "weights", "slow"].includes(reached), "arrow keys move between the tasks");
  await page.$eval(box("slow"), (found) => found.focus());
  await page.keyboard.press("Delete");
  await page.waitForFunction((each) => !document.querySelector(each), {}, box("slow"));
  await checkFocus(page, "a task was removed");
  await press(page, "Undo all changes");
  await page.waitForSelector(box("slow"));
  await checkFocus(page, "changes were undone");
  await page.type(".decision input", "Weigh them, too.");
  await press(page, "Reject: plan again");
  await waitForText(page, "#questions", "version 2 of the plan");
  await checkFocus(page, "a plan was rejected");
  await page.$eval("#made", (made) => (made.open = true));
  expect((await read(page, "#plan-versions")).includes("Weigh them, too."), "a rejected plan is made again, and the reason is shown");

  await press(page, "+ Add a task");
  await page.waitForSelector(box("task_5"));
  await write(page, ".task-form input", "taste");
  await page.keyboard.press("Enter");
  await page.waitForSelector(box("taste"));
  await press(page, "Choose in the graph what needs it");
  await page.$eval(box("ranking"), (found) => found.focus());
  await page.keyboard.press("Enter");
  await page.waitForSelector('.draft-box[aria-label^="ranking "][aria-label*="taste"]');
  await press(page, "Done connecting");
  expect(await page.$(`${box("taste")}.selected`), "a task is added, named and connected by keyboard");
  await press(page, "Run the plan as edited");
  await page.waitForSelector('.decision .form-problem[role="alert"]');
  note("refused", await read(page, '.decision .form-problem[role="alert"]'));
  expect(await page.$(box("taste")), "the edited plan is kept for correction");
  note("axe on a refused plan", await checkAccess(page));
  await takePicture("refused");
  await showDark(page, true);
  note("axe, dark", await checkAccess(page));
  await takePicture("refused-dark");
  await showDark(page, false);
  await page.setViewport({ width: 320, height: 800 });
  await takePicture("narrow");
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width <= 320, `nothing is wider than a narrow screen (${width} px)`);
  await page.setViewport({ width: 1200, height: 900 });

  await page.click(box("taste"));
  await write(page, ".task-form textarea", "Find in notes.md how the coffee Huila tastes, with the source.");
  await press(page, "Run the plan as edited");
  await (await page.waitForSelector(".stop-one > summary")).click();
  await page.waitForSelector(".stop-panel");
  await page.waitForSelector('::-p-xpath(//option[normalize-space()="slow · researcher · working"])');
  await page.select(".stop-panel select", "slow");
  await takePicture("working");
  await press(page, "Stop it");
  await page.waitForSelector(".question textarea");
  await waitForText(page, ".questions", "waits for 2 answers");
  expect(!(await page.$(".stop-panel")), "the stopped task has ended, and the run asks");
  note("axe on questions", await checkAccess(page));
  await takePicture("questions");

  const other = await openPage(browser, problems);
  await other.goto(`${given.url}/supervise/#/runs/${thread}`);
  await other.waitForSelector(".question textarea");
  await other.type(".question textarea", "with tax");
  await page.type(".question textarea", "without tax");
  const clickFirst = (tab) => tab.$eval(".question button.primary", (button) => button.click());
  const before = problems.length;
  await Promise.all([clickFirst(page), clickFirst(other)]);
  const said = async (tab) => {
    await tab.waitForFunction(() => /another tab/.test(document.querySelector("main").innerText), { timeout: 8000 }).catch(() => 0);
    return read(tab, ".notice");
  };
  const lines = [await said(page), await said(other)];
  note("two tabs answer one question", lines);
  expect(lines.filter((line) => /another tab/.test(line)).length === 1, "one tab says that the other was first");
  await page.bringToFront();
  await takePicture("two-tabs");
  problems.splice(before, problems.length, ...problems.slice(before).filter((each) => !/409/.test(each)));

  await page.waitForFunction(() => document.querySelectorAll(".question").length === 1, { polling: 100 });
  await page.type(".question textarea", "roasted");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await waitForText(page, ".run-bar", "partial");
  await checkFocus(page, "an answer");
  await other.bringToFront();
  await waitForText(other, ".run-bar", "partial");
  await page.bringToFront();
  const state = await (await fetch(`${given.url}/threads/${thread}/state`)).json();
  note("gaps of the answer", state.values.answer.gaps);
  expect(/slow failed: stopped by a human/.test(state.values.answer.gaps.join()), "the answer names the gap");
  await takePicture("done", { fullPage: true });
});
