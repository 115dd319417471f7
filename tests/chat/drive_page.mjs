// Drive tests/chat/page in Chromium: request with a file, live plan, approval, question, answer.
//     node drive_page.mjs '{"page": URL, "file": PATH, "screenshots": FOLDER, "chromium": PATH, "request": TEXT, ...}'
import { drive, readMessages } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);

/** Record every state of the list of todos, and the length of the last AI message, as they change. */
async function record(page, seen) {
  await page.exposeFunction("recordTodos", (todos) => seen.todos.push(todos));
  await page.exposeFunction("recordLength", (length) => seen.answerLengths.push(length));
  await page.addInitScript(() => {
    let before = "";
    new MutationObserver(() => {
      const todos = [...document.querySelectorAll(".todo li")].map((item) => item.textContent);
      if (todos.join() !== before) window.recordTodos(todos);
      before = todos.join();
      const last = [...document.querySelectorAll(".message.ai")].pop();
      if (last) window.recordLength(last.textContent.length);
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
}

await drive(given, "page", async (page, takePicture) => {
  const seen = { todos: [], answerLengths: [] };
  await record(page, seen);
  const question = page.getByRole("region", { name: "question" });

  await page.goto(given.page);
  await page.getByLabel("message").fill(given.request);
  await page.getByLabel("file").setInputFiles(given.file);
  await page.getByRole("button", { name: "send" }).click();

  await question.getByRole("button", { name: "approve" }).waitFor();
  seen.planQuestion = await question.innerText();
  await takePicture("plan");
  await question.getByRole("button", { name: "approve" }).click();

  await page.locator(".todo li", { hasText: "[~]" }).first().waitFor();
  await takePicture("working");
  await question.filter({ hasText: given.question }).waitFor();
  seen.workerQuestion = await question.innerText();
  await takePicture("question");
  await question.getByLabel("reply").fill(given.reply);
  await question.getByRole("button", { name: "respond" }).click();

  await page.locator(".message.ai", { hasText: given.answer }).waitFor();
  await page.locator("#state", { hasText: "ready" }).waitFor();
  seen.messages = await readMessages(page, ".message");
  seen.alerts = await page.getByRole("alert").allInnerTexts();
  await takePicture("answer");
  return seen;
});
