import type { ComponentChildren } from "preact";
import { Line } from "../parts/text";
import type { Problem } from "./problem";

/** One line about something that went wrong; nothing without it. */
export const ProblemLine = ({ problem }: { problem: Problem | null }) =>
  problem && (
    <p class="notice notice-problem" role="alert">
      <Line max={500}>{problem.message}</Line>
    </p>
  );

export const Notice = ({ children }: { children: ComponentChildren }) => (
  <p class="notice" role="status">
    {children}
  </p>
);
