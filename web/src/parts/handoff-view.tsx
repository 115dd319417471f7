import { countOf, formatCount, formatSeconds } from "../model/format";
import type { TaskDetails, WorkerCard } from "../model/task-details";
import { LongText } from "./long-text";
import { TaskLink } from "./task-link";
import { Line, Text } from "./text";

const MAX_GIVEN_CHARS = 200;

/** What the worker was given, and what it is told in any case. */
export function HandoffView({ details }: { details: TaskDetails }) {
  const { task, handoff, card, given } = details;
  const materials: [string, number | null][] = handoff.materials
    ? Object.entries(handoff.materials)
    : (task.traced.materials ?? []).map((name) => [name, null]);
  return (
    <section class="handoff">
      <h3>{details.attempts.length ? "What it was given" : "What it would be given"}</h3>
      <h4>Results of other tasks</h4>
      {given.length === 0 && <p class="soft">None.</p>}
      <ul>
        {given.map((needed) => (
          <li key={needed.path}>
            <TaskLink path={needed.path} />{" "}
            <span class="soft"><Line max={MAX_GIVEN_CHARS}>{needed.traced.report?.output ?? needed.state}</Line></span>
          </li>
        ))}
      </ul>
      <h4>Materials</h4>
      {materials.length === 0 && <p class="soft">None.</p>}
      <ul>
        {materials.map(([name, size]) => (
          <li key={name}>
            <Text>{name}</Text> {size !== null && <span class="soft small">{formatCount(size)} characters</span>}
          </li>
        ))}
      </ul>
      {handoff.timeout_s !== undefined && (
        <p class="soft small">
          At most {countOf(handoff.max_turns ?? 0, "step")}, {formatSeconds(handoff.timeout_s)} and {formatCount(handoff.max_tokens ?? 0)} tokens
        </p>
      )}
      {card && <CardView name={task.worker} card={card} />}
    </section>
  );
}

const CardView = ({ name, card }: { name: string; card: WorkerCard }) => (
  <>
    <h4>
      The worker <Text>{name}</Text>
    </h4>
    <p><Text>{card.description}</Text></p>
    <p class="soft small">
      {!card.tools?.length && "No tools. "}
      {Object.entries({ Tools: card.tools?.join(", "), "A team": card.team, "On another server": card.host }).map(
        ([what, words]) =>
          words && (
            <span key={what}>
              {what}: <Text>{words}</Text>.{" "}
            </span>
          ),
      )}
    </p>
    {card.instructions && (
      <details class="no-print">
        <summary>Instructions</summary>
        <LongText text={card.instructions} />
      </details>
    )}
  </>
);
