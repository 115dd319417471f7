import { Section } from "../parts/shell";
import { startRun, type LiveRun } from "../client/live-run";
import { isWithoutModel } from "../model/estimate";
import { ENDED } from "../model/run-status";
import { RequestForm } from "./request-form";

const FOLLOW_UP = { id: "follow-up", title: "Ask a follow-up" };

/** Return whether a run has ended so that a further request can build on it, or ask again with what it lacked. */
export const canFollow = (run: LiveRun): boolean => run.trace !== null && ENDED.includes(run.status);

/** A further request on the thread: it gets a new plan, and knows the earlier answers and files. */
export const FollowUp = ({ run }: { run: LiveRun }) => (
  <Section {...FOLLOW_UP}>
    <RequestForm
      server={run.server}
      place={`follow-up ${run.thread}`}
      label="What should the team do next?"
      hint={!(run.trace && isWithoutModel(run.trace)) ? "It knows the earlier requests, answers and files of this thread." : "It knows the files of this thread, and what “it”, “there” or “and in June?” refer to in your earlier questions."}
      words={["Ask", "Asking…"]}
      send={async (written) => {
        await startRun(run.server, run.graph, written, run.thread);
        run.refresh(written.request);
        scrollTo(0, 0);
      }}
    />
  </Section>
);
