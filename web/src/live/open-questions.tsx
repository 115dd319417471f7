import { Line } from "../parts/text";
import type { LiveRun } from "./live-run";

/** The questions that a run waits for. */
export const OpenQuestions = ({ run }: { run: LiveRun }) =>
  run.questions.length > 0 && (
    <section class="notice" aria-label="Open questions">
      {run.questions.map((question, index) => (
        <p key={index}>
          <Line max={500}>{(question as { question?: string; is?: string }).question ?? (question as { kind?: string }).kind}</Line>
        </p>
      ))}
    </section>
  );
