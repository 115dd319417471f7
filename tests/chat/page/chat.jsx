// A chat over the React hook of the LangGraph SDK: messages, todos, one file, open questions.
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { useStream } from "@langchain/langgraph-sdk/react";
import { isUIMessage, uiMessageReducer } from "@langchain/langgraph-sdk/react-ui";

const given = new URLSearchParams(window.location.search);
const CONTEXT = JSON.parse(given.get("context") ?? "{}");
const MODES = ["values", "messages-tuple", "custom"];
const MARKS = { pending: "[ ]", in_progress: "[~]", completed: "[x]" };

function readText(message) {
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => block.text ?? `(${block.type})`).join("\n");
}

async function readFile(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const data = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return { type: "file", mimeType: file.type, mime_type: file.type, data, metadata: { filename: file.name } };
}

function Question({ value, answer }) {
  const [words, setWords] = useState("");
  const allowed = value.review_configs?.[0]?.allowed_decisions ?? [];
  const send = (decision) => answer({ decisions: [decision] });
  return (
    <section className="question" aria-label="question">
      <p>{value.action_requests?.[0]?.description ?? value.description}</p>
      <textarea aria-label="reply" value={words} onChange={(event) => setWords(event.target.value)} />
      {allowed.map((type) => (
        <button key={type} onClick={() => send(type === "approve" ? { type } : { type, message: words })}>
          {type}
        </button>
      ))}
    </section>
  );
}

function Chat() {
  const [words, setWords] = useState("");
  const [file, setFile] = useState(null);
  const [events, setEvents] = useState(0);
  const [thread, setThread] = useState(null);
  const stream = useStream({
    apiUrl: given.get("api"),
    assistantId: given.get("assistant"),
    threadId: thread,
    onThreadId: setThread,
    onCustomEvent: (event, { mutate }) => {
      setEvents((count) => count + 1);
      if (isUIMessage(event)) mutate((before) => ({ ...before, ui: uiMessageReducer(before.ui ?? [], event) }));
    },
  });
  const plan = (stream.values?.ui ?? []).find((each) => each.name === "plan");
  // The to-do list has the tasks, the UI message how far each of them is.
  const todos = (stream.values?.todos ?? []).map((todo) => ({
    ...todo,
    status: plan?.props[`task:${todo.id}`] ?? todo.status,
  }));

  async function submit(event) {
    event.preventDefault();
    const content = [{ type: "text", text: words }, ...(file ? [await readFile(file)] : [])];
    setWords("");
    setFile(null);
    stream.submit(
      { messages: [{ type: "human", content }] },
      { context: CONTEXT, streamMode: MODES },
    );
  }

  return (
    <main>
      <h1>Chat with a team</h1>
      {stream.messages.map((message) => (
        <div key={message.id} className={`message ${message.type}`}>{readText(message)}</div>
      ))}
      {todos.length > 0 && (
        <ul className="todo" aria-label="todos">
          {todos.map((todo) => <li key={todo.id}>{MARKS[todo.status]} {todo.content}</li>)}
        </ul>
      )}
      {stream.interrupt && !stream.isLoading && (
        <Question
          key={stream.interrupt.id}
          value={stream.interrupt.value}
          answer={(resume) => stream.submit(undefined, { command: { resume }, context: CONTEXT, streamMode: MODES })}
        />
      )}
      {stream.error && <p className="error" role="alert">{String(stream.error.message ?? stream.error)}</p>}
      <form onSubmit={submit}>
        <textarea aria-label="message" value={words} onChange={(event) => setWords(event.target.value)} />
        <input aria-label="file" type="file" onChange={(event) => setFile(event.target.files[0])} />
        <button type="submit" disabled={stream.isLoading}>send</button>
      </form>
      <p id="state">{stream.isLoading ? "working" : "ready"} · {events} events</p>
    </main>
  );
}

createRoot(document.getElementById("page")).render(<Chat />);
