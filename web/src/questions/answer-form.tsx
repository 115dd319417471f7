import { useState } from "preact/hooks";
import { MarkdownText } from "../parts/markdown-text";
import { Line, Text } from "../parts/text";
import type { CallQuestion, OtherQuestion, WorkerQuestion } from "../client/question";
import { approve, editCall, readArguments, reject, respond, type Reply } from "../client/replies";

interface FormProps<Asked> {
  question: Asked;
  /** What was written so far. */
  words: string | undefined;
  isBusy: boolean;
  onWords: (words: string) => void;
  onReply: (reply: Reply) => void;
}

interface ChoicesProps {
  choices: readonly string[];
  onChoose: (choice: string) => void;
}

const Choices = ({ choices, onChoose }: ChoicesProps) =>
  choices.length > 0 && (
    <div class="choices flow" role="group" aria-label="Answers to choose from">
      {choices.map((choice) => (
        <button key={choice} type="button" onClick={() => onChoose(choice)}><Line max={120}>{choice}</Line></button>
      ))}
    </div>
  );

/** A worker's question: words, or one of the answers it offers. */
export function QuestionForm({ question, words = "", isBusy, onWords, onReply }: FormProps<WorkerQuestion>) {
  const name = `answer-${question.id}`;
  return (
    <form onSubmit={(event) => (event.preventDefault(), words.trim() && onReply(respond(words)))}>
      <label for={name} class="question-words"><Text>{question.question}</Text></label>
      {question.partial && (
        <details>
          <summary>Found so far</summary>
          <MarkdownText text={question.partial} />
        </details>
      )}
      <Choices choices={question.choices} onChoose={onWords} />
      <textarea id={name} data-key="E" rows={2} value={words} onInput={(event) => onWords(event.currentTarget.value)} />
      <div class="form-actions flow">
        <button class="primary" data-key="A" disabled={isBusy || !words.trim()}>Answer</button>
        <button type="button" data-key="R" disabled={isBusy} onClick={() => onReply(reject(""))}>Skip this question</button>
      </div>
    </form>
  );
}

/** A call that waits for confirmation: made as it is, with other arguments, or not at all. */
export function CallForm({ question, words, isBusy, onWords, onReply }: FormProps<CallQuestion>) {
  const [reason, setReason] = useState("");
  const original = JSON.stringify(question.args, null, 2);
  const json = words ?? original;
  const read = readArguments(json);
  const isEdited = json !== original;
  const name = `call-${question.id}`;
  const send = () => "args" in read && onReply(isEdited ? editCall(question.tool, read.args) : approve());
  return (
    <div>
      <p class="question-words">
        May <Line max={60}>{question.worker || "a worker"}</Line> call{" "}
        <code><Line max={100}>{question.tool}</Line></code>
        ?
      </p>
      <label for={name}>With these arguments</label>
      <textarea
        id={name}
        data-key="E"
        class="code"
        rows={Math.min(12, json.split("\n").length + 1)}
        spellcheck={false}
        value={json}
        aria-invalid={"problem" in read}
        onInput={(event) => onWords(event.currentTarget.value)}
      />
      {"problem" in read && (
        <p class="form-problem small" role="alert"><Line max={300}>{read.problem}</Line></p>
      )}
      <div class="form-actions flow">
        <button type="button" class="primary" data-key="A" disabled={isBusy || "problem" in read} onClick={send}>
          {isEdited ? "Call it with these" : "Allow the call"}
        </button>
        <input data-refuses aria-label="Why the call is refused" placeholder="Why not? (optional)" value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        <button type="button" data-key="R" data-refuses disabled={isBusy} onClick={() => onReply(reject(reason))}>
          Refuse the call
        </button>
      </div>
    </div>
  );
}

/** A question of another form; the one who asked gets the words as they are written. */
export function OtherForm({ question, words = "", isBusy, onWords, onReply }: FormProps<OtherQuestion>) {
  const { value } = question;
  const name = `other-${question.id}`;
  return (
    <form onSubmit={(event) => (event.preventDefault(), words.trim() && onReply(words))}>
      <label for={name} class="question-words">
        {typeof value === "string" ? <Text>{value}</Text> : "A tool asks:"}
      </label>
      {typeof value !== "string" && (
        <pre><Text>{JSON.stringify(value, null, 2)}</Text></pre>
      )}
      <Choices choices={question.choices} onChoose={onWords} />
      <textarea id={name} data-key="E" rows={2} value={words} onInput={(event) => onWords(event.currentTarget.value)} />
      <div class="form-actions flow">
        <button class="primary" data-key="A" disabled={isBusy || !words.trim()}>Answer</button>
      </div>
    </form>
  );
}
