import { formatSeconds } from "../model/format";
import type { Trace } from "../model/trace";
import { Text } from "./text";

/** The request, what became of it, and the figures of the run. */
export const Summary = ({ trace }: { trace: Trace }) => (
  <>
    <p class="request">
      <Text>{trace.run.request}</Text>
    </p>
    <p>
      <Text>{trace.run.team}</Text>, {trace.run.status}, {formatSeconds(trace.timing.wall_s)}
    </p>
  </>
);
