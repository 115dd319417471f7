import type { Trace } from "../model/trace";
import { RUN_SECTIONS } from "./run-sections";
import { SelectionProvider } from "./selection";
import { Section } from "./shell";

export const listRunSections = (trace: Trace) => RUN_SECTIONS.filter(({ isEmpty }) => !isEmpty?.(trace));

/** Everything about one run, drawn from its trace; the same in the report and in the live page. */
export const RunView = ({ trace }: { trace: Trace }) => (
  <SelectionProvider>
    {listRunSections(trace).map(({ id, title, Part }) => (
      <Section key={id} id={id} title={title}>
        <Part trace={trace} />
      </Section>
    ))}
  </SelectionProvider>
);
