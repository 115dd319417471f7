/** Values of unknown form, as what they should be: one of another form counts as empty. */

export type Json = Record<string, unknown>;

export const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
export const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
export const asRecord = (value: unknown): Json => (isRecord(value) ? value : {});
export const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");
export const asRecords = (value: unknown): Json[] => asList(value).filter(isRecord);
export const asTexts = (value: unknown): string[] => asList(value).filter((item) => typeof item === "string");
