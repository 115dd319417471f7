import type { ComponentChildren } from "preact";
import { Line } from "../parts/text";
import type { Problem } from "./problem";

/** One line about something that went wrong; nothing without it. */
export const ProblemLine = ({ problem }: { problem: Problem | null }) =>
  problem && (
    <p class={problem.kind === "passed" ? "notice" : "notice notice-problem"} role="alert"><Line max={500}>{problem.message}</Line></p>
  );

interface MissingProps {
  problem: Problem | null;
  /** Where a visitor can go on. */
  href: string;
  children: ComponentChildren;
}

/** A page whose content is still loaded, or is not there: what went wrong, and a way back. */
export const Missing = ({ problem, href, children }: MissingProps) =>
  problem ? (
    <div class="empty soft">
      <ProblemLine problem={problem} />
      <a href={href}>{children}</a>
    </div>
  ) : (
    <p class="soft">loading…</p>
  );

export const Notice = ({ children }: { children: ComponentChildren }) => (
  <p class="notice" role="status">{children}</p>
);
