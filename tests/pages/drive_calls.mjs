// Confirm calls of a tool: one with other arguments, and one not at all.
import { checkAccess, drive, given, press, read, waitForText } from "./browser.mjs";

async function send(path, body) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(given.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

await drive(async ({ page, takePicture, note }) => {
  const { thread_id } = await send("/threads", {});
  await send(`/threads/${thread_id}/runs`, { assistant_id: "asker", input: { request: "Echo part x, then report on it." } });
  await page.goto(`${given.url}/supervise/#/runs/${thread_id}`);
  await waitForText(page, ".questions", "waits for 2 answers");
  note("asked", await read(page, ".questions"));
  note("axe", await checkAccess(page));
  await takePicture("calls");

  await page.$eval(".question textarea", (field) => field.select());
  await page.type(".question textarea", '{"text": ');
  await waitForText(page, ".form-problem", "no JSON");
  await page.type(".question textarea", '"changed"}');
  await press(page, "Call it with these");
  await page.waitForFunction(() => document.querySelectorAll(".question").length === 1, { polling: 100 });
  await page.type(".question .form-actions input", "not this one");
  await page.keyboard.down("Control");
  await page.keyboard.press("Enter");
  await page.keyboard.up("Control");
  await waitForText(page, ".run-bar", "done|partial");
  note("the end", await read(page, ".run-bar"));
});
