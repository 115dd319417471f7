const PASSED = 99.95;

/** A score from 0 to 100: by its figure, a sign and colour. */
export const Score = ({ value }: { value: number | null }) => {
  if (value === null) return <span class="soft">–</span>;
  const isFull = value >= PASSED;
  return (
    <span class={isFull ? "score-full" : "score-cut"}>
      <span aria-hidden="true">{isFull ? "✓" : "◐"}</span> {value.toFixed(isFull ? 0 : 1)}
    </span>
  );
};
