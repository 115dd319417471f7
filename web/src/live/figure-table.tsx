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
  <div class="table-scroll" tabIndex={0} role="region" aria-label={`Figures of both ${kind.toLowerCase()}s`}>
    <table class={name}>
      <thead>
        <tr>
          <td />
          {[...NAMES.map((each) => `${kind} ${each}`), "B against A"].map((title) => (
            <th key={title} scope="col" class="figure">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {figures.map(({ label, values, change }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            {[...values, change].map((value, index) => (
              <td key={index} class="figure">
                {value}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
