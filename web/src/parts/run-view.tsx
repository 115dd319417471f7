import { useMemo } from "preact/hooks";
import type { Trace } from "../model/trace";
import { PrintedDetails } from "./printed-details";
import { RunContext, showRun } from "./run-context";
import { RUN_SECTIONS } from "./run-sections";
import { SelectedTask } from "./selected-task";
import { SelectionProvider } from "./selection";
import { Section } from "./shell";

export const listRunSections = (trace: Trace) => RUN_SECTIONS.filter(({ isEmpty }) => !isEmpty?.(trace));

interface RunViewProps {
  trace: Trace;
  /** Path of the task that is selected at first. */
  start?: string | undefined;
  onSelect?: ((path: string) => void) | undefined;
}

/** Everything about one run, drawn from its trace; the same in the report and in the live page. */
export function RunView({ trace, start, onSelect }: RunViewProps) {
  const run = useMemo(() => showRun(trace), [trace]);
  return (
    <RunContext.Provider value={run}>
      <SelectionProvider start={start} onSelect={onSelect}>
        {listRunSections(trace).map(({ id, title, Part }) => (
          <Section key={id} id={id} title={title}>
            <Part trace={trace} />
          </Section>
        ))}
        <SelectedTask />
        <PrintedDetails />
      </SelectionProvider>
    </RunContext.Provider>
  );
}
