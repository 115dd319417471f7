/** Figures as they are shown. */

const COUNT = new Intl.NumberFormat("en");

export const formatCount = (count: number): string => COUNT.format(count);

/** Return a number with its noun: `1 task`, `1,200 tasks`. */
export const countOf = (count: number, noun: string): string => `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Return seconds as `3 ms`, `0.42 s`, `41 s` or `3 min 5 s`. */
export function formatSeconds(seconds: number | null | undefined): string {
  if (seconds == null || !Number.isFinite(seconds)) return "–";
  if (seconds < 0.0995) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(seconds < 0.995 ? 2 : 1)} s`;
  if (seconds < 59.5) return `${seconds.toFixed(0)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const rest = hours ? minutes && ` ${minutes} min` : whole % 60 && ` ${whole % 60} s`;
  return `${hours ? `${hours} h` : `${minutes} min`}${rest || ""}`;
}

/** Return dollars; `unknown` if the price of a model is not known. */
export function formatUsd(usd: number | null | undefined): string {
  if (usd == null) return "unknown";
  if (usd === 0) return "$0";
  return usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}

/** Return the time of day some seconds after a time in ISO 8601, with the date unless it is today; "–" without a time. */
export function formatMoment(time: string | undefined, afterS = 0): string {
  const date = new Date(new Date(time ?? "").getTime() + 1000 * afterS);
  if (Number.isNaN(date.getTime())) return "–";
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString("en-GB") : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** Return a team's name as people write it: `market_analysis` as `Market analysis`. */
export const nameTeam = (name: string): string => (name[0] ?? "").toUpperCase() + name.slice(1).replaceAll("_", " ");
