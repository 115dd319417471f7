import { DataTable } from "../parts/data-table";
import type { Figure } from "../model/compare";

/** Of two that are compared, the older one first. */
export const NAMES = ["A", "B"] as const;

interface FigureTableProps {
  name: string;
  /** What is compared: Run, Exam. */
  kind: string;
  figures: readonly Figure[];
}

/** Figures of two runs or exams, with their differences. */
export const FigureTable = ({ name, kind, figures }: FigureTableProps) => (
  <DataTable
    name={name}
    label={`Figures of both ${kind.toLowerCase()}s`}
    columns={[
      { title: <span class="visually-hidden">Figure</span>, show: ({ label }: Figure) => label },
      ...NAMES.map((each, index) => ({ title: `${kind} ${each}`, kind: "figure", show: ({ values }: Figure) => values[index] })),
      { title: "B against A", kind: "figure", show: ({ change }) => change },
    ]}
    rows={figures}
  />
);
