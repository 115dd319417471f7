/** Untrusted text, made visible: what could reorder or hide letters is shown as its code point. */

// Control characters except tab and line feed; bidirectional controls; zero-width and tag characters.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu;

const nameCodePoint = (character: string) =>
  `\u2039${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}\u203a`;

/** Return the text with its hidden characters as code points, such as ‹202E›. */
export const showHidden = (text: string): string => text.replaceAll("\r\n", "\n").replace(HIDDEN, nameCodePoint);

/** Return the text on one line, at most `maxChars` long, the cut shown by an ellipsis. */
export function toLine(text: unknown, maxChars = 200): string {
  const line = showHidden(String(text ?? "").slice(0, 4 * maxChars)).replace(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length > maxChars ? `${characters.slice(0, maxChars - 1).join("")}…` : line;
}
