import { nameRung, type Attempt } from "../model/attempts";
import type { CostRow } from "../model/costs";
import { isWithoutModel } from "../model/estimate";
import { countOf, formatCount, formatSeconds, formatUsd } from "../model/format";
import { CallList } from "./call-list";
import { LongText } from "./long-text";
import { useRun } from "./run-context";
import { Text } from "./text";

/** The attempts at a task, with the rung of the recovery ladder that led to each. */
export function AttemptLadder({ attempts, costs }: { attempts: Attempt[]; costs: CostRow | null }) {
  const count = attempts.filter(({ isCutOff }) => !isCutOff).length;
  return (
    <section>
      <h3>{count === 1 ? "One attempt" : `${count} attempts`}</h3>
      {costs && !isWithoutModel(useRun().trace) && (
        <p class="soft small">
          {countOf(costs.calls, "model call")}, {formatCount(costs.inputTokens)} tokens in, {formatCount(costs.outputTokens)} out, cost{" "}
          {formatUsd(costs.usd)}
        </p>
      )}
      <ol class="ladder bare">
        {attempts.map((attempt, index) => (
          <li key={index} class={attempt.problem || attempt.isCutOff ? "failed" : ""}>
            <AttemptView attempt={attempt} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Whether an attempt led to the result, by its sign and its word. */
function AttemptOutcome({ attempt }: { attempt: Attempt }) {
  if (attempt.isCutOff) return <span class="soft small">■ cut off, begun again when the run was resumed</span>;
  if (attempt.problem) return <span class="problem small">✕ not accepted</span>;
  return attempt.endS === null ? <span class="soft small">● at work</span> : <span class="accepted small">✓ accepted</span>;
}

function AttemptView({ attempt }: { attempt: Attempt }) {
  const { handoff, problem } = attempt;
  return (
    <>
      <p class="rung">
        <strong>
          {attempt.number}. <Text>{nameRung(attempt.rung)}</Text>
        </strong>{" "}
        <AttemptOutcome attempt={attempt} />{" "}
        <span class="soft small">
          <Text>{attempt.worker}</Text>, {attempt.tier},{" "}
          {formatSeconds(attempt.endS === null ? null : attempt.endS - attempt.startS)}
        </span>
      </p>
      {attempt.rung === "refine" && handoff.description && (
        <p class="small">
          Now asked: <Text>{handoff.description}</Text>
        </p>
      )}
      {Object.entries(handoff.answers ?? {}).map(([question, answer]) => (
        <p key={question} class="small">
          Asked: <Text>{question}</Text> – a human answered: <strong><Text>{answer}</Text></strong>
        </p>
      ))}
      {handoff.instructions && (
        <details>
          <summary>Instructions of the specialist</summary>
          <LongText text={handoff.instructions} />
        </details>
      )}
      {problem && (
        <p class="problem"><Text>{problem}</Text></p>
      )}
      {attempt.refined && (
        <p class="soft small">
          Rewritten: <Text>{attempt.refined}</Text>
        </p>
      )}
      <CallList calls={attempt.calls} isOpen={attempt.calls.length <= 4} />
    </>
  );
}
