/** A team, its exam, and the exams that were kept, as `/supervise/teams` answers. */

export interface TeamTool {
  name: string;
  is_own: boolean;
  is_declared: boolean;
  asks: boolean;
  reads: string[];
  sends: string;
}

interface LongText {
  /** The beginning. */
  text: string;
  /** Length of the whole text. */
  chars: number;
}

export interface TeamWorker {
  name: string;
  description: string;
  instructions: LongText;
  tier: string;
  tiers: string[];
  fallback: string;
  tools: TeamTool[];
  team: { name: string; workers: string[] } | null;
  remote: string;
  remote_access: { reads: string[]; sends: string } | null;
  limits: { turns: number; timeout_s: number; tokens: number };
}

export interface TeamServer {
  name: string;
  transport: string;
  place: string;
  is_trusted: boolean;
}

export interface TeamExample {
  request: string;
  tasks: { id: string; worker: string; needs: string[] }[];
}

export interface Team {
  name: string;
  description: string;
  strategy: string;
  guidance: LongText;
  notice: string;
  tiers: Record<string, string>;
  limits: { tasks: number; attempts: number; deadline_s: number | null; cost_usd: number | null; tokens: number | null };
  workers: TeamWorker[];
  recruits: { name: string; tools: TeamTool[] } | null;
  servers: TeamServer[];
  examples: TeamExample[];
  warnings: string[];
  notes: string[];
}

export interface AskedRow {
  id: string;
  request: string;
  files: string[];
  worker: string;
  expect: Record<string, unknown>;
}

export interface ExamFile {
  count: number;
  rows: AskedRow[];
  problems: string[];
  problem_count: number;
}

export interface GradedRow {
  id: string;
  request: string;
  score: number;
  scores: Record<string, number>;
  complaints: string[];
  status: string;
  seconds: number;
  answer: string;
  error: string;
}

export interface Exam {
  team: string;
  models: Record<string, string>;
  score: number;
  threshold: number | null;
  against: string;
  metrics: Record<string, number>;
  left_out: Record<string, string>;
  calls: number;
  cost_usd: number | null;
  seconds: number;
  rows: GradedRow[];
}

export interface ListedExam {
  id: string;
  exam: Exam | null;
  rows: number;
  problem: string;
}

export interface ListedTeam {
  name: string;
  description: string;
  workers: number;
  score: number | null;
  problem: string;
  /** Of each tier. */
  models?: Record<string, string>;
  /** A row of its exam, with files. */
  example?: { id: string; request: string } | null;
}

export interface TeamPageContent {
  team: Team | null;
  problem: string;
  exam: ExamFile | null;
  exams: ListedExam[];
}

/** Return when an exam was kept, from its id; null for a foreign id. */
export function readExamTime(id: string): Date | null {
  const found = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)/.exec(id);
  if (!found) return null;
  const [year, month, day, hour, minute, second] = found.slice(1).map(Number) as [number, number, number, number, number, number];
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second));
}

/** Return which models an exam used, in words: one name where all tiers have the same. */
export function describeModels(models: Record<string, string>): string {
  const names = new Set(Object.values(models));
  if (names.size === 1) return [...names][0]!;
  return Object.entries(models).map(([tier, name]) => `${tier} ${name}`).join(", ");
}

/** Return what was wrong with a row, in words: `refused` is a request that ought to end with what it lacks. */
export const nameComplaint = (text: string): string =>
  text
    .replace(/^refused: not refused$/, "it was answered, and ought to be refused")
    .replace(/^refused: refused as (.*)$/, (_, reasons: string) => `it was refused for another reason than expected: ${reasons.replaceAll("_", " ")}`);

/** Return what a row expects, in words. */
export function describeExpectation(expect: Record<string, unknown>): string {
  return Object.entries(expect)
    .map(([key, value]) => `${key}: ${describeValue(value)}`)
    .join("; ");
}

function describeValue(value: unknown): string {
  if (!Array.isArray(value)) return typeof value === "object" && value ? describeExpectation(value as Record<string, unknown>) : String(value);
  return value.map((each) => (Array.isArray(each) ? each.join(" → ") : describeValue(each))).join(", ");
}
