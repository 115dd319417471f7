import { nameTeam } from "../model/format";
import { nameStatus } from "./status-mark";
import type { ListedRun } from "./run-list";

/** What of the runs is shown; empty values select all. */
export interface RunFilter {
  text: string;
  team: string;
  status: string;
  /** Number of days up to today. */
  days: string;
}

export const ALL_RUNS: RunFilter = { text: "", team: "", status: "", days: "" };
const DAYS: readonly (readonly [string, string])[] = [["1", "today"], ["7", "last 7 days"], ["30", "last 30 days"]];

/** Return the runs that a filter selects; `now` is in milliseconds. */
export function selectRuns(runs: readonly ListedRun[], { text, team, status, days }: RunFilter, now = Date.now()): ListedRun[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const since = days ? new Date(now).setHours(0, 0, 0, 0) - (Number(days) - 1) * 86_400_000 : 0;
  return runs.filter((run) => {
    const searched = `${run.title} ${run.request} ${run.requests.join(" ")} ${nameTeam(run.team)} ${run.thread}`.toLowerCase();
    const isIn = (!team || run.team === team) && (!status || run.status === status) && (!days || new Date(run.started).getTime() >= since);
    return isIn && words.every((word) => searched.includes(word));
  });
}

interface RunFiltersProps {
  runs: readonly ListedRun[];
  filter: RunFilter;
  onFilter: (filter: RunFilter) => void;
}

/** Words, team, status and day of the runs to show. */
export function RunFilters({ runs, filter, onFilter }: RunFiltersProps) {
  const choices: [keyof RunFilter, string, (readonly [string, string])[]][] = [
    ["team", "Team", [...new Set(runs.map(({ team }) => team))].sort().map((team) => [team, nameTeam(team)])],
    ["status", "Status", [...new Set(runs.map(({ status }) => status))].sort().map((status) => [status, nameStatus(status)])],
    ["days", "Started", [...DAYS]],
  ];
  return (
    <form class="run-filters flow" role="search" aria-label="Runs" onSubmit={(event) => event.preventDefault()}>
      <input type="search" aria-label="Words in titles and requests" placeholder="Search titles and requests" value={filter.text} onInput={(event) => onFilter({ ...filter, text: event.currentTarget.value })} />
      {choices.map(([name, title, options]) => (
        <label key={name}>
          {title}{" "}
          <select value={filter[name]} onChange={(event) => onFilter({ ...filter, [name]: event.currentTarget.value })}>
            <option value="">any</option>
            {options.map(([value, words]) => (
              <option key={value} value={value}>{words}</option>
            ))}
          </select>
        </label>
      ))}
    </form>
  );
}
