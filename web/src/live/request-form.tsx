import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { findFileProblem, findRequestProblem, listChosen, listEmpty, loadUnread, readDropped, type RunContext, type WrittenRequest } from "../client/files";
import { useAction, useAsked } from "../client/hooks";
import { useKept } from "../client/kept";
import { ProblemLine } from "../client/notice";
import { Problem } from "../client/problem";
import type { Server } from "../client/server";
import { Line } from "../parts/text";
import { FileDrop } from "./file-drop";

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
  server: Server;
  /** What is written is kept under this name. */
  place: string;
  label: string;
  hint?: string;
  /** On the button; the second while it is sent. */
  words: readonly [string, string];
  /** Further fields, below the files. */
  children?: ComponentChildren;
  /** What else is wrong; nothing can be sent. */
  problem?: Problem | null;
  isReady?: boolean;
  /** It is put into the form. */
  example?: { request: string; materials: Record<string, string> } | null;
  send: (written: WrittenRequest) => Promise<void>;
}

/** A request in words, with files, limits, and what to ask. It is emptied when it was sent. */
export function RequestForm({ server, place, label, hint, words, children, problem = null, isReady = true, example = null, send }: RequestFormProps) {
  const name = useId();
  const [request, setRequest] = useKept(place, "");
  const [names, keepNames] = useKept<string[]>(`${place} files`, []);
  const [files, setFiles] = useState<File[]>([]);
  const [materials, setMaterials] = useState<Record<string, string>>();
  const [empty, setEmpty] = useState<string[]>([]);
  const { answer: unread } = useAsked(() => loadUnread(server, files), [server, files]);
  const [isOver, setOver] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const takeFiles = (chosen: File[]) => {
    setFiles(chosen);
    keepNames(chosen.map((file) => file.name));
    setMaterials(undefined);
  };
  const addFiles = (added: File[]) => {
    takeFiles(listChosen(files, added));
    setEmpty([...new Set([...empty, ...listEmpty(added)])]);
  };
  const drop = useAction(async (dropped: DataTransfer | null) => addFiles(await readDropped(dropped)));
  useEffect(() => {
    // On the page where runs are started, it is what a visitor came for.
    if (place === "start") area.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    if (!example) return;
    setRequest(example.request);
    setFiles([]);
    setEmpty([]);
    keepNames(Object.keys(example.materials));
    setMaterials(example.materials);
    area.current?.focus();
  }, [example]);
  const isLost = names.length > 0 && !files.length && !materials; // a browser keeps the text alone
  const refusal = findRequestProblem(request) || findFileProblem(files);
  const canSend = isReady && request.trim() !== "" && !refusal;
  const action = useAction(async (form: HTMLFormElement) => {
    await send({ request: request.trim(), files, materials, context: readContext(new FormData(form)) });
    setRequest("");
    takeFiles([]);
    setEmpty([]);
    form.reset();
  });
  const submit = (form: HTMLFormElement) => form.reportValidity() && canSend && action.start(form);
  return (
    <form
      class={`request-form ${isOver ? "is-over" : ""}`}
      onSubmit={(event) => (event.preventDefault(), submit(event.currentTarget))}
      onDragOver={(event) => (event.preventDefault(), setOver(true))}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => (event.preventDefault(), setOver(false), drop.start(event.dataTransfer))}
    >
      <label for={`${name}-request`}>{label}</label>
      <textarea
        id={`${name}-request`}
        name="request"
        ref={area}
        rows={3}
        required
        aria-describedby={hint && `${name}-hint`}
        value={request}
        onInput={(event) => setRequest(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit(event.currentTarget.form!)}
      />
      {hint && (
        <p id={`${name}-hint`} class="soft small">
          {hint}
        </p>
      )}
      <div class="request-row flow">
        <FileDrop files={files} given={Object.keys(materials ?? {})} empty={empty} unread={unread ?? {}} onAdd={addFiles} onFiles={takeFiles} />
        <button class="primary" type="submit" data-key="Ctrl ↵" title="Ctrl+Enter" disabled={action.isBusy || !canSend}>
          {words[action.isBusy ? 1 : 0]}
        </button>
      </div>
      {isLost && (
        <p class="soft small">
          The text was kept, the files were not: choose <Line max={200}>{names.join(", ")}</Line> again, if they are needed.
        </p>
      )}
      {refusal && <ProblemLine problem={new Problem("refused", refusal)} />}
      <ProblemLine problem={action.problem ?? drop.problem ?? problem} />
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
      {children}
    </form>
  );
}
