import { findAnswer } from "./answer";
import { listSources } from "./sources";
import type { Trace } from "./trace";

const list = (title: string, items: readonly string[]): string[] =>
  items.length ? [`## ${title}`, items.map((item) => `- ${item.replace(/\s+/g, " ")}`).join("\n")] : [];

/** Return the answer as a Markdown document, with its request, findings, gaps and sources. */
export function writeAnswer(trace: Trace): string {
  const answer = findAnswer(trace);
  if (!answer) return "";
  const findings = answer.findings.map((each) => `**${String(each.severity ?? "")}** ${[each["file"], each["line"]].filter(Boolean).join(":")} ${String(each["message"] ?? "")}`);
  const used = listSources(trace).filter(({ isUsed }) => isUsed);
  const parts = [
    `# ${(trace.run.request ?? "").replace(/\s+/g, " ")}`,
    answer.text.trim(),
    ...list("Findings", findings),
    ...list("Not answered", answer.unanswered),
    ...list("What is missing", answer.gaps),
    ...list("Sources", used.map(({ name }) => name)),
  ];
  return `${parts.join("\n\n")}\n`;
}
