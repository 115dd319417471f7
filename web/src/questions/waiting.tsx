import { describeEstimate } from "../model/estimate";
import { formatMoment } from "../model/format";
import { joinNames } from "../model/sentences";
import type { Trace, TracedTask } from "../model/trace";
import { Line } from "../parts/text";
import type { Question } from "../client/question";

/** Since when a run waits, what waits with it, and what it is expected to take. */
export function Waiting({ open, trace }: { open: readonly Question[]; trace: Trace | null }) {
  const { estimate, limits } = open.find(({ kind }) => kind === "plan") ?? { estimate: null, limits: [] };
  const facts: [string, string][] = [
    ["Waiting since", trace ? formatMoment(trace.run.clock_started || trace.run.started, trace.events.at(-1)?.t) : ""],
    ["What waits", describeBlocked(open, trace?.tasks ?? [])],
    ["Expected", estimate ? describeEstimate(estimate) : ""],
  ];
  const [most, ...further] = limits;
  return (
    <>
      <dl class="waiting">
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt class="soft small">{name}</dt>
                <dd><Line max={300}>{value}</Line></dd>
              </div>
            ),
        )}
      </dl>
      {most && (
        <details class="certificate">
          <summary title="What is certain before it runs">
            <Line max={200}>{most[0]!.toUpperCase() + most.slice(1)}</Line>
          </summary>
          <ul class="small">
            {further.map((line) => (
              <li key={line}><Line max={300}>{line}</Line></li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** Return what cannot go on before the questions are answered. */
export function describeBlocked(open: readonly Question[], tasks: readonly TracedTask[]): string {
  if (open.some(({ kind, task }) => kind === "plan" && !task)) return "everything: no task has begun";
  const blocked = new Set(open.map(({ task }) => task.split("/")[0]!).filter(Boolean));
  const asking = blocked.size;
  // Each task stands behind those that it needs, but for plans in circles, which no run has.
  for (const { id, depends_on } of [...tasks, ...tasks]) if (depends_on.some(({ task }) => blocked.has(task))) blocked.add(id);
  const behind = [...blocked].slice(asking);
  return behind.length ? `${joinNames(behind, "task")}, and the answer` : "the answer";
}

const FIELDS = "input, textarea, select";
/** The reason of a refusal, and the button that sends it. */
const REFUSAL = "[data-refuses]";

/** Press or go to what a key stands for in the question that has the focus; outside of one, or held down, it stands for nothing.
 *
 * `a` accepts, `e` changes, `r` rejects; in a field they are letters, and Ctrl+Enter sends what the field belongs to.
 */
export function pressKey(event: KeyboardEvent): void {
  const target = event.target as Element;
  const question = target.closest(".question");
  if (!question || event.repeat || event.altKey) return;
  const isField = target.matches(FIELDS);
  const isSent = event.key === "Enter" && (event.ctrlKey || event.metaKey);
  if (isField ? !isSent : event.ctrlKey || event.metaKey || !/^[aer]$/.test(event.key)) return;
  const key = isField ? "A" : event.key.toUpperCase();
  const wanted = isField && target.matches(REFUSAL) ? `button${REFUSAL}` : `[data-key="${key}"]`;
  const found = question.querySelector<HTMLElement>(`${wanted}:not(:disabled)`);
  if (!found) return;
  event.preventDefault();
  if (key === "A") found.click();
  else found.focus();
}
