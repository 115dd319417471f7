import { useEffect, useMemo, useState } from "preact/hooks";
import { useFocus, useFocusBack } from "../client/focus";
import { useAction, useAsked } from "../client/hooks";
import { ProblemLine } from "../client/notice";
import { ask, TITLE, type Server } from "../client/server";
import { countOf, formatMoment, formatSeconds, nameTeam } from "../model/format";
import { toLine } from "../model/plain-text";
import { Line } from "../parts/text";
import type { TableColumn } from "../parts/data-table";
import { ChoiceTable } from "./choice-table";
import { Deletion } from "./deletion";
import { linkTo } from "./router";
import { ALL_RUNS, RunFilters, selectRuns } from "./run-filter";
import { RunLister, type ListedRun } from "./run-list";
import { StatusMark } from "./status-mark";

const LIST_EVERY_MS = 5000;
const MAX_WAITING = 5;

/** The runs of the server: those that wait for an answer first, then a list to search, compare, rename and delete in. */
export function RunTable({ server }: { server: Server }) {
  const lister = useMemo(() => new RunLister(server), [server]);
  const [pages, setPages] = useState(1);
  const [changes, setChanges] = useState(0);
  const [filter, setFilter] = useState(ALL_RUNS);
  const { answer: list, problem } = useAsked(() => lister.list(pages), [lister, pages, changes], LIST_EVERY_MS);
  const end = useFocusBack<HTMLParagraphElement>(list?.hasOlder);
  const deleting = useDeletion(server, () => setChanges((count) => count + 1));
  const runs = list?.runs.filter(({ thread }) => !deleting.isHidden(thread)) ?? [];
  const shown = selectRuns(runs, filter);
  return (
    <>
      {(runs.length > 1 || filter !== ALL_RUNS) && <RunFilters runs={runs} filter={filter} onFilter={setFilter} />}
      <ProblemLine problem={problem ?? deleting.problem} />
      <Inbox runs={runs} />
      {deleting.pending.length > 0 && (
        <p class="notice" role="status">
          <Line max={160}>{nameRuns(list?.runs.filter(({ thread }) => deleting.pending.includes(thread)) ?? [])}</Line> will be deleted.{" "}
          <button type="button" onClick={() => deleting.undo()}>Undo</button>
        </p>
      )}
      {!list && !problem && <p class="skeleton soft">Loading the runs…</p>}
      {list && !runs.length && <p class="empty soft">No run yet: write a request above, or fill in an example. Runs of the command line are not shown here.</p>}
      {runs.length > 0 && !shown.length && (
        <p class="empty soft">
          No run is like that{list?.hasOlder && " among those loaded"}.{" "}
          <button type="button" onClick={() => setFilter(ALL_RUNS)}>Show all</button>
        </p>
      )}
      {shown.length > 0 && (
        <ChoiceTable
          name="run-list"
          kind="runs"
          rows={shown}
          columns={COLUMNS}
          keyOf={({ thread }) => thread}
          labelOf={({ started }) => `select the run of ${formatMoment(started)}`}
          compare={(older, newer) => linkTo("compare", older, newer)}
          act={(chosen, onDone) => (
            <RunActions server={server} runs={runs.filter(({ thread }) => chosen.includes(thread))} onRenamed={() => (onDone(), setChanges(changes + 1))} onDelete={(threads) => (onDone(), deleting.start(threads))} />
          )}
        />
      )}
      {list?.hasOlder && (
        <button type="button" class="older" onClick={() => setPages(list.pages + 1)}>
          {list.pages < pages ? "loading…" : "Show older runs"}
        </button>
      )}
      {list && list.pages > 1 && !list.hasOlder && (
        <p class="soft small older" tabIndex={-1} ref={end}>These are all runs.</p>
      )}
    </>
  );
}

const nameRuns = (runs: readonly ListedRun[]): string =>
  runs.length === 1 ? `“${toLine(runs[0]!.title || runs[0]!.request, 80)}”` : countOf(runs.length, "run");

/** The runs that wait for an answer. */
function Inbox({ runs }: { runs: readonly ListedRun[] }) {
  const waiting = runs.filter(({ status }) => status === "needs_input");
  if (!waiting.length) return null;
  return (
    <div class="notice inbox">
      <strong>{waiting.length === 1 ? "A run waits for you" : `${waiting.length} runs wait for you`}</strong>
      <ul>
        {waiting.slice(0, MAX_WAITING).map(({ thread, title, request, started }) => (
          <li key={thread}>
            <a href={linkTo("runs", thread)}><Line max={120}>{title || request}</Line></a> <span class="soft small">{formatMoment(started)}</span>
          </li>
        ))}
        {waiting.length > MAX_WAITING && <li class="soft">and {waiting.length - MAX_WAITING} more</li>}
      </ul>
    </div>
  );
}

interface RunActionsProps {
  server: Server;
  runs: readonly ListedRun[];
  onRenamed: () => void;
  onDelete: (threads: readonly string[]) => void;
}

/** What can be done with the selected runs. */
function RunActions({ server, runs, onRenamed, onDelete }: RunActionsProps) {
  const [isNaming, setNaming] = useState(false);
  const [only] = runs;
  const isOne = runs.length === 1;
  return (
    <>
      {isOne && !isNaming && (
        <button type="button" onClick={() => setNaming(true)}>Rename</button>
      )}
      {isOne && isNaming && <RenameForm key={only!.thread} server={server} run={only!} onRenamed={onRenamed} onClose={() => setNaming(false)} />}
      {!(isOne && isNaming) && (
        <button type="button" class="problem" onClick={() => onDelete(runs.map(({ thread }) => thread))}>
          Delete{isOne ? "" : ` the ${runs.length}`}
        </button>
      )}
    </>
  );
}

function RenameForm({ server, run, onRenamed, onClose }: { server: Server; run: ListedRun; onRenamed: () => void; onClose: () => void }) {
  const [title, setTitle] = useState(run.title || toLine(run.request, 120));
  const field = useFocus<HTMLInputElement>();
  const action = useAction(async () => {
    await ask(() => server.client.threads.update(run.thread, { metadata: { [TITLE]: title.trim() } }));
    onRenamed();
  });
  return (
    <form class="rename flow" onSubmit={(event) => (event.preventDefault(), action.start())} onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <input ref={field} onFocus={(event) => event.currentTarget.select()} aria-label="Title of the run" placeholder="A title of your own" maxLength={120} value={title} onInput={(event) => setTitle(event.currentTarget.value)} />
      <button class="primary" disabled={action.isBusy}>Save</button>
      <button type="button" onClick={onClose}>Cancel</button>
      <ProblemLine problem={action.problem} />
    </form>
  );
}

/** Return what deletes runs of a server; what is pending when the list is left is carried out. */
function useDeletion(server: Server, onChange: () => void): Deletion {
  const deletion = useMemo(() => new Deletion((thread) => ask(() => server.client.threads.delete(thread)), onChange), [server]);
  useEffect(() => () => void deletion.carryOut(), [deletion]);
  return deletion;
}

const COLUMNS: readonly TableColumn<ListedRun>[] = [
  { title: "Status", show: ({ status, isQueued }) => <StatusMark status={status} unbegun={isQueued ? "not begun" : ""} /> },
  {
    title: "Request",
    kind: "request-cell",
    show: ({ thread, title, request }) => (
      <>
        <a href={linkTo("runs", thread)}><Line max={160}>{title || request || "begins when it is its turn"}</Line></a>
        {title && (
          <span class="soft small under"><Line max={120}>{request}</Line></span>
        )}
      </>
    ),
  },
  { title: "Team", show: ({ team }) => <Line max={60}>{nameTeam(team)}</Line> },
  { title: "Started", kind: "figure", show: ({ started }) => formatMoment(started) },
  { title: "Time", kind: "figure", show: ({ wallS }) => formatSeconds(wallS) },
];
