/** Files of a request, in the form of docs/guide/chat.md. */

import { reader } from "../model/asides";
import { makeFile, type Server } from "./server";

export const MAX_FILES = 200;
/** Of all files together, as the server takes them. */
export const MAX_BYTES = 45_000_000;
/** Of a table in text: of a longer one only the beginning would be read, and its figures would be wrong. */
const MAX_TABLE_BYTES = 2_000_000;
const TABLE = /\.(?:csv|tsv|jsonl|ndjson)$/i;
/** What a visitor should know before files are chosen. */
export const FILE_LIMITS = `A table (CSV) up to ${MAX_TABLE_BYTES / 1e6} MB, all files up to ${MAX_BYTES / 1e6} MB`;

/** Of the words of a request, as the server takes them. */
const MAX_REQUEST_BYTES = 100_000;

/** Return why a request cannot be sent; empty if it can. */
export function findRequestProblem(request: string): string {
  const { length } = new TextEncoder().encode(request.trim());
  if (length <= MAX_REQUEST_BYTES) return "";
  return `the request has ${formatSize(length)}; at most ${formatSize(MAX_REQUEST_BYTES)} can be sent: shorten it, or attach its long part as a file`;
}

export const formatSize = (bytes: number): string => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
const countMegabytes = (bytes: number): string => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

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
  if (empty) return `${empty.name} is empty: take it out with its ✕`;
  const large = files.find(({ name, size }) => TABLE.test(name) && size > MAX_TABLE_BYTES);
  if (large) {
    const advice = reader.ownsServer ? "leave it out, divide it, or let the server query it where it is (setting: SUPERVISE_SQL_URL)" : "leave it out, or divide it";
    return `${large.name} has ${countMegabytes(large.size)} MB; of a table at most ${MAX_TABLE_BYTES / 1e6} MB can be read: ${advice}`;
  }
  const size = files.reduce((sum, file) => sum + file.size, 0);
  return size > MAX_BYTES ? `the files have ${Math.ceil(size / 1e6)} MB; at most ${MAX_BYTES / 1e6} MB can be attached` : "";
}

/** Return files with further ones; of a folder those that are not hidden or empty, by another name where two have one. */
export function listChosen(before: readonly File[], added: readonly File[]): File[] {
  const chosen = [...before];
  for (const file of added) {
    const path = file.webkitRelativePath || file.name;
    if (path !== file.name && (!file.size || isHidden(path))) continue;
    const known = chosen.find(({ name }) => name === file.name);
    if (!known) chosen.push(file);
    else if (known.webkitRelativePath !== file.webkitRelativePath || !isSame(known, file)) chosen.push(new File([file], nameApart(path, chosen), { type: file.type }));
  }
  return chosen;
}

const isHidden = (path: string) => path.split("/").some((part) => part.startsWith("."));

/** Return the empty files of a folder, which are not taken; nobody expects the hidden ones. */
export const listEmpty = (added: readonly File[]): string[] =>
  added.filter(({ size, webkitRelativePath: path, name }) => !size && path && path !== name && !isHidden(path)).map(({ name }) => name);

/** Of a file, what tells the server whether it is text. */
const HEAD_BYTES = 8192;

/** Return why files will not be read, by their names; those that will be have no reason.
 *
 * @throws Problem: the server does not tell.
 */
export async function loadUnread(server: Server, files: readonly File[]): Promise<Record<string, string>> {
  if (!files.length) return {};
  const heads = await Promise.all(files.map((file) => readBlock(new File([file.slice(0, HEAD_BYTES)], file.name, { type: file.type }))));
  const reasons = JSON.parse(await (await makeFile(server, "unread", JSON.stringify(heads))).text()) as string[];
  return Object.fromEntries(files.map(({ name }, place) => [name, reasons[place] ?? ""]));
}

const isSame = (one: File, other: File) => one.size === other.size && one.lastModified === other.lastModified;

function nameApart(path: string, taken: readonly File[]): string {
  const name = path.replaceAll("/", "-");
  for (let number = 2; ; number += 1) {
    const other = name.replace(/(\.[^.]*)?$/, (ending) => `-${number}${ending}`);
    const free = number === 2 && path.includes("/") ? name : other;
    if (!taken.some((file) => file.name === free)) return free;
  }
}

/** Return the files that were dropped, those of folders too. */
export async function readDropped(dropped: DataTransfer | null): Promise<File[]> {
  const entries = [...(dropped?.items ?? [])].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const files: File[] = [];
  for (const entry of entries) await readEntry(entry, files);
  return entries.length ? files : [...(dropped?.files ?? [])];
}

async function readEntry(entry: FileSystemEntry, found: File[]): Promise<void> {
  if (found.length > MAX_FILES || (entry.name.startsWith(".") && entry.fullPath.lastIndexOf("/") > 0)) return;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push(Object.defineProperty(file, "webkitRelativePath", { value: entry.fullPath.slice(1) }));
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return;
    for (const each of batch) await readEntry(each, found);
  }
}

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
