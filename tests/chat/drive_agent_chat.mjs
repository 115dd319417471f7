// Drive agent-chat-ui, as create-agent-chat-app ships it, in Chromium: request, approval, question, answer.
//     node drive_agent_chat.mjs '{"page": URL, "screenshots": FOLDER, "chromium": PATH, "request": TEXT, ...}'
import { drive } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);

await drive(given, "agent-chat", async (page, takePicture) => {
  const seen = {};
  const readPage = () => page.locator("body").innerText();

  await page.goto(given.page);
  await page.getByPlaceholder("Type your message...").fill(given.request);
  await page.getByRole("button", { name: "Send" }).click();

  const accept = page.getByRole("button", { name: /^(Accept|Submit)$/ }).first();
  await accept.waitFor();
  seen.planQuestion = await readPage();
  await takePicture("plan");
  await accept.click();

  // This release shows a form only for the last of parallel workers, so the answer is a chat message.
  await page.getByText(given.question).first().waitFor();
  await page.getByPlaceholder("Type your message...").fill(given.reply);
  seen.workerQuestion = await readPage();
  await takePicture("question");
  await page.getByRole("button", { name: "Send", exact: true }).click();

  await page.getByText(given.answer).first().waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  seen.conversation = await readPage();
  await takePicture("answer");
  return seen;
});
