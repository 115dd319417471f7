import { useEffect, useId, useState } from "preact/hooks";
import { useKept } from "../client/kept";
import { countOf } from "../model/format";
import { Line } from "../parts/text";
import type { PlanQuestion } from "../client/question";
import { approve, editPlan, reject, type Reply } from "../client/replies";
import * as drafts from "./draft";
import type { Draft } from "./draft";
import { DraftGraph } from "./draft-graph";
import { TaskForm } from "./task-form";

interface PlanEditorProps {
  question: PlanQuestion;
  /** What was edited so far; null: nothing. It outlives the editor, as a refused plan is corrected. */
  draft: Draft | null;
  workers: readonly string[];
  /** Of the request. */
  files: readonly string[];
  isBusy: boolean;
  onDraft: (draft: Draft | null) => void;
  onReply: (reply: Reply) => void;
}

/** Of the tasks of a plan that are all shown as forms; those of a longer plan one at a time. */
const MAX_FORMS = 40;

/** A plan that waits for approval: it is run as it is or as edited, or rejected with a reason. */
export function PlanEditor({ question, draft: kept, workers, files, isBusy, onDraft, onReply }: PlanEditorProps) {
  const { plan } = question;
  const [corrected, setCorrected] = useKept("corrected", "");
  const problems = corrected === question.id ? [] : question.problems;
  const draft = kept ?? drafts.beginDraft(plan);
  const [chosen, setChosen] = useState("");
  const [connecting, setConnecting] = useState("");
  const [showsAll, setShowsAll] = useState(false);
  const [refused, setRefused] = useState("");
  const [lack, setLack] = useState("");
  const name = useId();
  const isEdited = drafts.isChanged(draft, plan);
  const known = [...new Set([...draft.tasks.map(({ worker }) => worker), ...workers])].filter(Boolean);
  const named = draft.tasks.map(({ id }) => id);
  const selected = named.includes(chosen) ? chosen : (named[0] ?? "");

  useEffect(() => {
    const wrong = named.find((id) => drafts.selectProblems(draft, problems, id).length > 0);
    if (wrong !== undefined) setChosen(wrong);
  }, [problems.join("\n")]);
  const change = (next: Draft | null, select?: string) => {
    onDraft(next);
    setCorrected(question.id); // what was wrong is of the draft before
    setRefused("");
    setLack("");
    if (select !== undefined) setChosen(select);
    if (connecting && !next?.tasks.some(({ id }) => id === connecting)) setConnecting("");
  };
  const add = () => {
    const { draft: next, id } = drafts.addTask(draft, draft.tasks.find(({ id: each }) => each === selected)?.worker ?? known[0] ?? "", files);
    change(next, id);
  };
  const connect = (from: string, to: string) => {
    if (drafts.canConnect(draft, to, from)) change(drafts.connect(draft, to, from));
    else setRefused(`${to} cannot need ${from}: ${from} waits for ${to} already, so neither could begin.`);
  };
  const toggle = (from: string, to: string) => {
    const needs = draft.tasks.find(({ id }) => id === to)?.depends_on.some(({ task }) => task === from);
    if (needs) change(drafts.disconnect(draft, to, from));
    else connect(from, to);
  };
  const approveDraft = () => {
    const empty = isEdited && drafts.findEmpty(draft);
    if (!empty) return onReply(isEdited ? editPlan(draft.goal, draft.tasks) : approve());
    setChosen(empty.id);
    setLack(`Task “${empty.id}”: ${drafts.NO_WORDS}`);
  };
  const count = `${countOf(draft.tasks.length, "task")}${isEdited ? ", edited" : ""}`;
  const shown = draft.tasks.filter(({ id }) => showsAll || id === selected);

  return (
    <div class="plan-editor">
      {problems.length > 0 && (
        <div class="notice notice-problem" role="alert">
          <p>Nothing has run: your last reply could not be used.</p>
          <ul>
            {problems.map((problem) => (
              <li key={problem}><Line max={400}>{drafts.nameTasks(draft, problem)}</Line></li>
            ))}
          </ul>
        </div>
      )}
      <p>
        <label for={name}>Goal</label>
        <input id={name} data-key="E" class="wide" value={draft.goal} onInput={(event) => change({ ...draft, goal: event.currentTarget.value })} />
      </p>
      <div class="editor-tools flow">
        <button type="button" onClick={add}>+ Add a task</button>
        {draft.tasks.length <= MAX_FORMS && (
          <button type="button" onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? "Only the selected task" : "All tasks as a form"}
          </button>
        )}
        <button type="button" disabled={!isEdited} onClick={() => change(null)}>Undo all changes</button>
        <span class={refused ? "form-problem small" : "soft small"} role="status">
          <Line max={300}>{refused || (connecting ? `Choose what needs ${connecting}; again to take it back.` : count)}</Line>
        </span>
      </div>
      <p class="soft small">
        Select a task to change it. Drag from a task's circle to the task that needs its result. By keyboard: arrow keys, Enter, Delete.
      </p>
      <div class="editor-panes">
        <DraftGraph
          draft={draft}
          selected={selected}
          connecting={connecting}
          problems={problems}
          onSelect={setChosen}
          onConnect={toggle}
          onDrop={connect}
          onRemove={(id) => draft.tasks.length > 1 && change(drafts.removeTask(draft, id), "")}
        />
        <div class="task-forms">
          {shown.map((task) => (
            <TaskForm
              key={draft.tasks.indexOf(task)}
              draft={draft}
              task={task}
              workers={known}
              files={drafts.listFiles(draft, files)}
              problems={drafts.selectProblems(draft, problems, task.id)}
              isConnecting={connecting === task.id}
              onChange={change}
              onConnecting={() => setConnecting(connecting === task.id ? "" : task.id)}
            />
          ))}
        </div>
      </div>
      <Decision
        warning={question.warning}
        lack={lack}
        hint={question.hint}
        isEdited={isEdited}
        isBusy={isBusy}
        onApprove={approveDraft}
        onReject={(reason) => onReply(reject(reason))}
      />
    </div>
  );
}

interface DecisionProps {
  warning: string;
  /** Of the plan as edited. */
  lack: string;
  hint: string;
  isEdited: boolean;
  isBusy: boolean;
  onApprove: () => void;
  onReject: (reason: string) => void;
}

function Decision({ warning, lack, hint, isEdited, isBusy, onApprove, onReject }: DecisionProps) {
  const [reason, setReason] = useState("");
  const name = useId();
  return (
    <div class="decision flow">
      <button type="button" class="primary" data-key="A" disabled={isBusy} onClick={onApprove}>
        {isBusy ? "Sending…" : isEdited ? "Run the plan as edited" : "Approve the plan"}
      </button>
      <span class="decision-reject">
        <input
          data-key="R"
          data-refuses
          class="wide"
          aria-describedby={hint && `${name}-hint`}
          aria-label="Why the plan is rejected"
          placeholder="To reject: what should be different?"
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <button type="button" data-refuses disabled={isBusy || !reason.trim()} onClick={() => onReject(reason)}>
          {warning ? "Reject: end the run" : "Reject: plan again"}
        </button>
      </span>
      {lack && (
        <p class="form-problem small" role="alert"><Line max={300}>{lack}</Line></p>
      )}
      {warning && (
        <p class="form-problem small" role="status"><Line max={300}>{warning}</Line></p>
      )}
      {hint && (
        <p id={`${name}-hint`} class="soft small"><Line max={300}>{hint}</Line></p>
      )}
    </div>
  );
}
