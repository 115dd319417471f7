import { nameComplaint } from "../model/team";
import { Line } from "../parts/text";
import { linkTo } from "./router";

const PASSED = 99.95;

/** A score from 0 to 100: by its figure, a sign and colour. */
export const Score = ({ value }: { value: number | null }) => {
  if (value === null) return <span class="soft">–</span>;
  const isFull = value >= PASSED;
  return (
    <span class={isFull ? "accepted" : "problem"}>
      <span aria-hidden="true">{isFull ? "✓" : value > 0 ? "◐" : "✕"}</span> {isFull ? "100" : Number(value.toFixed(1))}
    </span>
  );
};

/** What was wrong with a row. */
export const Complaints = ({ texts = [] }: { texts?: readonly string[] | undefined }) => (
  <>
    {texts.map((text, index) => (
      <div key={index} class="row-problem small"><Line max={300}>{nameComplaint(text)}</Line></div>
    ))}
  </>
);

export const TeamLink = ({ team }: { team: string }) => (
  <p class="no-print">
    <a href={linkTo("teams", team)}>
      Team <Line max={60}>{team}</Line>
    </a>
  </p>
);
