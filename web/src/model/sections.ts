import type { ComponentType } from "preact";
import type { Trace } from "./trace";

/** A part of the page about a run; `isEmpty` leaves it out where a trace has nothing for it. */
export interface RunSection {
  id: string;
  title: string;
  Part: ComponentType<{ trace: Trace }>;
  isEmpty?: (trace: Trace) => boolean;
}
