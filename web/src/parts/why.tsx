import type { Cause } from "../model/trace";
import { useRun } from "./run-context";
import { Line, Text } from "./text";

const MAX_CAUSES = 8;

/** Why a task is not whole. */
export function WhyTask({ path }: { path: string }) {
  const { trace } = useRun();
  return <Why causes={(trace.why ?? []).filter(({ tasks }) => tasks.includes(path))} />;
}

/** First causes of what a run lacks, each with what helps; nothing without one. */
export const Why = ({ causes }: { causes: Cause[] }) =>
  causes.length ? (
    <details class="why">
      <summary>Why, and what helps</summary>
      <ul>
        {causes.slice(0, MAX_CAUSES).map(({ sentence, remedies }, index) => (
          <li key={index}>
            <Line max={500}>{sentence}</Line>
            <ul class="small">
              {remedies.map(({ name, text }) => (
                <li key={name}>
                  <strong><Line max={200}>{name}</Line></strong>
                  : <Text>{text}</Text>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </details>
  ) : null;
