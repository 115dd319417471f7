import { countOf } from "../model/format";
import { listGaps, type Gap } from "../model/gaps";
import { labelState, STATE_GLYPHS } from "../model/task-view";
import type { Trace } from "../model/trace";
import { MarkdownLine } from "./markdown-text";
import { stateClass } from "./state-badge";
import { TaskLink } from "./task-link";
import { Line } from "./text";
import { Why, WhyTask } from "./why";

const MAX_GAPS = 5;
/** Of a gap that is not opened. */
const MAX_CHARS = 240;

/** What the answer lacks, and why: at most five kinds at first. */
export function GapsSection({ trace }: { trace: Trace }) {
  const gaps = listGaps(trace);
  const named = new Set(gaps.flatMap(({ problem }) => problem?.tasks.map(({ path }) => path) ?? []));
  return (
    <>
      <GapList gaps={gaps.slice(0, MAX_GAPS)} />
      {gaps.length > MAX_GAPS && (
        <details>
          <summary>{gaps.length - MAX_GAPS} more</summary>
          <GapList gaps={gaps.slice(MAX_GAPS)} />
        </details>
      )}
      <Why causes={(trace.why ?? []).filter(({ tasks }) => !tasks.some((path) => named.has(path)))} />
    </>
  );
}

const GapList = ({ gaps }: { gaps: Gap[] }) => (
  <ul class="gaps bare">
    {gaps.map((gap, index) => (
      <li key={index}>{gap.problem ? <ProblemText problem={gap.problem} /> : <GapText gap={gap} />}</li>
    ))}
  </ul>
);

const cut = (text: string) => (text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text).replace(/^not proved/, "Not proved");

function GapText({ gap: { text, others } }: { gap: Gap }) {
  if (!others.length && text.length <= MAX_CHARS) return <MarkdownLine text={cut(text)} />;
  return (
    <details>
      <summary>
        <MarkdownLine text={cut(text)} /> {others.length > 0 && <span class="soft">and {others.length} more like this</span>}
      </summary>
      <ul>
        {(text.length > MAX_CHARS ? [text, ...others] : others).map((other, index) => (
          <li key={index}><MarkdownLine text={other} /></li>
        ))}
      </ul>
    </details>
  );
}

const ProblemText = ({ problem: { state, reason, tasks } }: { problem: NonNullable<Gap["problem"]> }) => (
  <>
    <span class={`badge ${stateClass(state)}`}>
      <span aria-hidden="true">{STATE_GLYPHS[state]}</span> {labelState(state)}
    </span>{" "}
    <TaskLink path={tasks[0]!.path} />
    {tasks.length > 1 && ` and ${countOf(tasks.length - 1, "other")}`}
    {reason && (
      <>
        : <Line max={MAX_CHARS}>{reason}</Line>
      </>
    )}
    <WhyTask path={tasks[0]!.path} />
  </>
);
