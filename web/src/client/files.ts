/** Files of a request, in the form of docs/guide/chat.md. */

export const MAX_FILES = 200;
/** Of all files together, as the server takes them. */
export const MAX_BYTES = 45_000_000;

export interface FileBlock {
  type: "file";
  base64: string;
  mime_type: string;
  extras: { filename: string };
}

export type RunContext = Record<string, number | boolean>;

export interface WrittenRequest {
  request: string;
  files: File[];
  /** Texts of further files, by their names. */
  materials?: Record<string, string> | undefined;
  context: RunContext;
}

/** Return why files cannot be sent; empty if they can. */
export function findFileProblem(files: readonly { name: string; size: number }[]): string {
  if (files.length > MAX_FILES) return `at most ${MAX_FILES} files can be attached`;
  const empty = files.find(({ size }) => size === 0);
  if (empty) return `${empty.name} is empty: choose the files again, without it`;
  const size = files.reduce((sum, file) => sum + file.size, 0);
  return size > MAX_BYTES ? `the files have ${Math.ceil(size / 1e6)} MB; at most ${MAX_BYTES / 1e6} MB can be attached` : "";
}

/** Return the names and sizes of chosen files. */
export const describeFiles = (files: readonly { name: string; size: number }[]): string =>
  files.map(({ name, size }) => `${name} (${size < 1e6 ? `${Math.ceil(size / 1e3)} kB` : `${(size / 1e6).toFixed(1)} MB`})`).join(", ");

export async function readBlock(file: File): Promise<FileBlock> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error("cannot be read"));
    reader.readAsDataURL(file);
  });
  const mime_type = file.type || "application/octet-stream";
  return { type: "file", base64: url.slice(url.indexOf(",") + 1), mime_type, extras: { filename: file.name } };
}
