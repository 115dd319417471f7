/** Return moments for the marks of an axis: at most `max` of them, at 1, 2 or 5 times a power of ten, or whole minutes. */
export function listTicks(lengthS: number, max = 8): number[] {
  const least = lengthS / max;
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-6)));
  const fine = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least)!;
  const step = least > 1 ? (steps.find((each) => each >= least) ?? Math.ceil(least / 3600) * 3600) : fine;
  return Array.from({ length: Math.floor(lengthS / step + 1e-9) + 1 }, (_, index) => index * step);
}
