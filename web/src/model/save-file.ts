import { toLine } from "./plain-text";
import type { Run } from "./trace";

/** Return a name for a file of a run: the words of its request, without any its thread. */
export function nameFile({ request, thread }: Run): string {
  const words = toLine(request, 60).replace(/\s\S*…$/, "").normalize("NFC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
  return words.replace(/^-|-$/g, "") || toLine(thread, 40).replace(/[^\w-]/g, "") || "run";
}

/** Let the browser save a file. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Return what Base64 holds; no browser shows it as a page. */
export const decodeFile = (content: string): Blob => new Blob([Uint8Array.from(atob(content), (byte) => byte.charCodeAt(0))], { type: "application/octet-stream" });
