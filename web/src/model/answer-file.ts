import { findAnswer } from "./answer";
import { writeColumn, writeColumns } from "./columns";
import { findListed, findMarkedCell, placeMarks, readClaims } from "./proof-marks";
import { listClaims, listSources, type SourcedClaim } from "./sources";
import type { Trace } from "./trace";

const list = (title: string, items: readonly string[]): string[] =>
  items.length ? [`## ${title}`, items.map((item) => `- ${item.replace(/\s+/g, " ")}`).join("\n")] : [];
/** Proofs of what no figure of the answer says. */
const MAX_OTHERS = 200;
const TABLE_RULE = /^\s*\|?(?:\s*:?-+:?\s*\|)+[\s:-]*$/;

/** Return the answer as a Markdown document, with its request, findings, gaps, sources, and its proofs, with a number where a figure has one. */
export function writeAnswer(trace: Trace): string {
  const answer = findAnswer(trace);
  if (!answer) return "";
  const findings = answer.findings.map((each) => `**${String(each.severity ?? "")}** ${[each["file"], each["line"]].filter(Boolean).join(":")} ${String(each["message"] ?? "")}`);
  const used = listSources(trace).filter(({ isUsed }) => isUsed);
  const claims = listClaims(trace);
  const { text, proofs } = numberProofs(answer.text.trim(), claims);
  const others = claims.filter((claim) => claim.proof && claim.proof !== "stated" && !proofs.includes(claim)).slice(0, MAX_OTHERS);
  const shown = [...proofs.map((claim, index) => `[${index + 1}] ${describeProof(claim)}`), others.map((claim) => `- ${describeProof(claim)}`).join("\n")];
  const parts = [
    `# ${(trace.run.request ?? "").replace(/\s+/g, " ")}`,
    text,
    ...list("Findings", findings),
    ...list("Not answered", answer.unanswered),
    ...list("What is missing", answer.gaps),
    ...list("Sources", used.map(({ name }) => name)),
    ...(shown.some(Boolean) ? ["## Proofs", ...shown.filter(Boolean)] : []),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Return a text with the number of its proof behind each claim that it says, and these claims. */
function numberProofs(text: string, claims: readonly SourcedClaim[]): { text: string; proofs: SourcedClaim[] } {
  const marked = readClaims(claims);
  const numbers = new Map<number, number>();
  const lines = text.split("\n").map((line, index, all) => {
    if (TABLE_RULE.test(all[index + 1] ?? "")) return line.replace(/[^|]+/g, (cell) => ` ${writeColumn(cell.trim())} `);
    if (/^\s*>/.test(line)) return line; // its source is above it
    const said = writeColumns(line);
    const cells = said.trimStart().startsWith("|") ? said.split("|") : [];
    const listed = cells.length ? findListed(cells.slice(1), marked) : null;
    const found = listed === null ? placeMarks(said, marked, cells.length ? said : "") : [{ end: cells.slice(0, findMarkedCell(cells) + 1).join("|").trimEnd().length, claim: listed }];
    const places = found.filter(({ claim }, at) => !found.slice(at + 1).some((later) => later.claim === claim)); // the last figure of each
    for (const { claim } of places) if (!numbers.has(claim)) numbers.set(claim, numbers.size + 1);
    return places.reduceRight((left, { end, claim }) => `${left.slice(0, end)} [${numbers.get(claim)}]${left.slice(end)}`, said);
  });
  return { text: lines.join("\n"), proofs: [...numbers.keys()].map((claim) => claims[claim]!) };
}

/** Return a quotation as one line without the signs of headings, ` / ` between its paragraphs: nothing of it is a block of this document. */
const quote = (text: string): string =>
  text.replace(/^[ \t]*#{1,6}[ \t]+/gm, "").trim().split(/\n\s*\n/).map((part) => part.trim().replace(/\s+/g, " ")).join(" / ");

function describeProof({ text, quotation, source, proof }: SourcedClaim): string {
  const quoted = quotation || (text.trim().includes("\n") ? text : "");
  const said = [text.trim() !== quoted.trim() && writeColumns(quote(text)), quoted && `“${quote(quoted)}”`].filter(Boolean).join(" ");
  return `${said} (${[source, proof === "unproved" ? "not proved" : proof].filter(Boolean).join(", ")})`;
}
