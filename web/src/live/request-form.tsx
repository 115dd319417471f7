import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { Line } from "../parts/text";
import { describeFiles, findFileProblem, type RunContext, type WrittenRequest } from "../client/files";
import { useAction } from "../client/hooks";
import { useKept } from "../client/kept";
import { ProblemLine } from "../client/notice";
import { Problem } from "../client/problem";

const CAPS = [
  { name: "deadline_s", label: "Deadline", unit: "seconds", min: 0, step: "any" },
  { name: "max_cost_usd", label: "Cost", unit: "US dollars", min: 0, step: "any" },
  { name: "max_tokens", label: "Tokens", unit: "in and out", min: 0, step: "1" },
  { name: "max_tasks", label: "Tasks", unit: "of a plan", min: 1, step: "1" },
  { name: "max_attempts", label: "Attempts", unit: "at one task", min: 1, step: "1" },
  { name: "max_concurrency", label: "Model calls", unit: "at once", min: 1, step: "1" },
] as const;
const SWITCHES = [
  { name: "approve_plan", label: "Show me the plan before it runs" },
  { name: "ask_human", label: "Ask me when a task fails or is unclear" },
  { name: "sequential", label: "Run one task at a time" },
] as const;

/** Return the context of a run: what the form's fields say, without those that are empty. */
export function readContext(form: FormData): RunContext {
  const caps = CAPS.flatMap(({ name }) => {
    const value = String(form.get(name) ?? "").trim();
    return value === "" ? [] : [[name, Number(value)] as const];
  });
  const switches = SWITCHES.filter(({ name }) => form.get(name)).map(({ name }) => [name, true] as const);
  return Object.fromEntries<number | boolean>([...caps, ...switches]);
}

interface RequestFormProps {
  /** What is written is kept under this name. */
  place: string;
  label: string;
  hint?: string;
  /** On the button; the second while it is sent. */
  words: readonly [string, string];
  /** Further fields, beside the files. */
  children?: ComponentChildren;
  /** What else is wrong; nothing can be sent. */
  problem?: Problem | null;
  isReady?: boolean;
  send: (written: WrittenRequest) => Promise<void>;
}

/** A request in words, with files, limits, and what to ask. It is emptied when it was sent. */
export function RequestForm({ place, label, hint, words, children, problem = null, isReady = true, send }: RequestFormProps) {
  const name = useId();
  const [request, setRequest] = useKept(place, "");
  const [files, setFiles] = useState<File[]>([]);
  const fileProblem = findFileProblem(files);
  const canSend = isReady && request.trim() !== "" && !fileProblem;
  const action = useAction(async (form: HTMLFormElement) => {
    await send({ request: request.trim(), files, context: readContext(new FormData(form)) });
    setRequest("");
    setFiles([]);
    form.reset();
  });
  const submit = (form: HTMLFormElement) => form.reportValidity() && canSend && action.start(form);
  return (
    <form class="request-form" onSubmit={(event) => (event.preventDefault(), submit(event.currentTarget))}>
      <label for={`${name}-request`}>{label}</label>
      <textarea
        id={`${name}-request`}
        name="request"
        rows={3}
        required
        aria-describedby={hint && `${name}-hint`}
        maxLength={100_000}
        value={request}
        onInput={(event) => setRequest(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit(event.currentTarget.form!)}
      />
      {hint && (
        <p id={`${name}-hint`} class="soft small">
          {hint}
        </p>
      )}
      <div class="request-row">
        {children}
        <div>
          <label for={`${name}-files`}>Files</label>
          <input id={`${name}-files`} type="file" multiple onChange={(event) => setFiles([...(event.currentTarget.files ?? [])])} />
        </div>
        <button class="primary" type="submit" disabled={action.isBusy || !canSend}>
          {words[action.isBusy ? 1 : 0]}
        </button>
      </div>
      {files.length > 0 && (
        <p class="soft small">
          <Line max={300}>{describeFiles(files)}</Line>
        </p>
      )}
      <details>
        <summary>Limits, and what to ask me</summary>
        <div class="caps">
          {CAPS.map(({ name: cap, label: title, unit, min, step }) => (
            <label key={cap}>
              {title} <span class="soft small">{unit}</span>
              <input name={cap} type="number" inputmode="decimal" min={min} step={step} placeholder="the team's" />
            </label>
          ))}
        </div>
        {SWITCHES.map(({ name: option, label: title }) => (
          <label key={option} class="switch">
            <input name={option} type="checkbox" /> {title}
          </label>
        ))}
      </details>
      {fileProblem && <ProblemLine problem={new Problem("refused", fileProblem)} />}
      <ProblemLine problem={action.problem ?? problem} />
    </form>
  );
}
