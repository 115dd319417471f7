/** Words of a message that count in one place alone: the program puts them in brackets behind words that read well without them. */

/** Whoever reads the page; on a server with users, settings are not theirs. */
export const reader = { ownsServer: true };

const ASIDE = / \((on the command line|auf der Kommandozeile|path|setting|Einstellung): [^()]*\)/g;

/** Return a message, or a list of them, as a page says it: without options, commands and paths, and with settings only for who can set them. */
export const dropAsides = <Said>(said: Said): Said => {
  if (Array.isArray(said)) return said.map(dropAsides) as Said;
  if (typeof said !== "string" || !said.includes(" (")) return said;
  return said.replace(ASIDE, (aside, kind: string) => (reader.ownsServer && /setting|Einstellung/.test(kind) ? aside : "")) as Said;
};

/** What helps against a cause, as the program names it for a terminal. */
export interface Remedy {
  kind: string;
  name: string;
  text: string;
}

/** Where a page has what a terminal has an option or a command for. */
const PLACES: Readonly<Record<string, string>> = { option: "“Limits, and what to ask me”", file: "the files of the request" };

/** Return what helps as a page names it; null for what only a terminal, or who runs the server, can do. */
export function nameRemedy({ kind, name, text }: Remedy): Remedy | null {
  if (kind === "command") return name.startsWith("supervise resume") ? { kind, name: "Resume", text } : null;
  if (PLACES[kind]) return { kind, name: PLACES[kind], text };
  return kind === "request" || kind === "" || reader.ownsServer ? { kind, name, text } : null;
}
