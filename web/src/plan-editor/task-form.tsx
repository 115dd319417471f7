import { useState } from "preact/hooks";
import { Line } from "../parts/text";
import type { PlannedTask } from "../model/trace";
import * as drafts from "./draft";
import type { Draft } from "./draft";

interface TaskFormProps {
  draft: Draft;
  task: PlannedTask;
  workers: readonly string[];
  /** What another worker may read. */
  files: readonly string[];
  problems: readonly string[];
  isConnecting: boolean;
  onChange: (draft: Draft, selected?: string) => void;
  onConnecting: () => void;
}

/** One task of a draft as a form. */
export function TaskForm({ draft, task, workers, files, problems, isConnecting, onChange, onConnecting }: TaskFormProps) {
  const name = `task-${draft.tasks.indexOf(task)}`;
  const change = (fields: Partial<PlannedTask>) => onChange(drafts.changeTask(draft, task.id, fields), fields.id ?? task.id);
  return (
    <fieldset class="task-form box">
      <legend><Line max={40}>{task.id}</Line></legend>
      {problems.map((problem) => (
        <p key={problem} class="form-problem small"><Line max={400}>{drafts.nameTasks(draft, problem)}</Line></p>
      ))}
      <div class="form-row">
        <IdField draft={draft} id={task.id} name={name} onRename={(id) => change({ id })} />
        <div>
          <label for={`${name}-worker`}>Worker</label>
          <select id={`${name}-worker`} value={task.worker} onChange={(event) => change({ worker: event.currentTarget.value, materials: [...files] })}>
            {[...new Set([task.worker, ...workers])].filter(Boolean).map((worker) => (
              <option key={worker} value={worker}>{worker}</option>
            ))}
          </select>
        </div>
      </div>
      <label for={`${name}-words`}>What to do</label>
      <textarea
        id={`${name}-words`}
        rows={4}
        value={task.description}
        onInput={(event) => change({ description: event.currentTarget.value })}
      />
      <Needs draft={draft} task={task} name={name} onChange={onChange} />
      <div class="form-actions flow">
        <button type="button" aria-pressed={isConnecting} onClick={onConnecting}>
          {isConnecting ? "Done connecting" : "Choose in the graph what needs it"}
        </button>
        <button type="button" class="problem" disabled={draft.tasks.length < 2} onClick={() => onChange(drafts.removeTask(draft, task.id), "")}>
          Remove the task
        </button>
      </div>
    </fieldset>
  );
}

interface IdFieldProps {
  draft: Draft;
  id: string;
  name: string;
  onRename: (id: string) => void;
}

/** The id takes effect when the field is left, and only if it can be one. */
function IdField({ draft, id, name, onRename }: IdFieldProps) {
  const [given, setGiven] = useState<string | null>(null);
  const problem = given === null ? "" : drafts.findIdProblem(draft, id, given);
  const leave = () => {
    if (given !== null && !problem && given !== id) onRename(given);
    setGiven(null);
  };
  return (
    <div>
      <label for={`${name}-id`}>Name</label>
      <input
        id={`${name}-id`}
        value={given ?? id}
        maxLength={40}
        aria-invalid={problem !== ""}
        aria-describedby={problem ? `${name}-id-problem` : undefined}
        onInput={(event) => setGiven(event.currentTarget.value)}
        onBlur={leave}
        onKeyDown={(event) => event.key === "Enter" && leave()}
      />
      {problem && (
        <p id={`${name}-id-problem`} class="form-problem small">
          {problem}
        </p>
      )}
    </div>
  );
}

function Needs({ draft, task, name, onChange }: Pick<TaskFormProps, "draft" | "task" | "onChange"> & { name: string }) {
  const needed = new Set(task.depends_on.map((edge) => edge.task));
  const waiting = drafts.findDependants(draft, task.id);
  const free = draft.tasks.filter(({ id }) => !needed.has(id) && !waiting.has(id));
  return (
    <div role="group" aria-labelledby={`${name}-needs`}>
      <p class="form-label" id={`${name}-needs`}>
        Needs the results of
      </p>
      {task.depends_on.length === 0 && <p class="soft small">nothing: it begins at once</p>}
      <ul class="needs bare">
        {task.depends_on.map((edge) => (
          <li key={edge.task} class="flow">
            <Line max={40}>{edge.task}</Line>
            <label class="switch small">
              <input
                type="checkbox"
                checked={!edge.required}
                onChange={(event) => onChange(drafts.connect(draft, task.id, edge.task, !event.currentTarget.checked))}
              />{" "}
              may fail
            </label>
            <button type="button" aria-label={`no longer needs ${edge.task}`} onClick={() => onChange(drafts.disconnect(draft, task.id, edge.task))}>
              ✕
            </button>
          </li>
        ))}
      </ul>
      {free.length > 0 && (
        <select
          aria-label="Add a task that it needs"
          value=""
          onChange={(event) => onChange(drafts.connect(draft, task.id, event.currentTarget.value))}
        >
          <option value="">+ add a task…</option>
          {free.map(({ id }) => (
            <option key={id} value={id}>{id}</option>
          ))}
        </select>
      )}
    </div>
  );
}
