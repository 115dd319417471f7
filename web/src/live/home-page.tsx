import { useMemo, useState } from "preact/hooks";
import { formatMoment, formatSeconds, nameTeam } from "../model/format";
import { Section } from "../parts/shell";
import { Line } from "../parts/text";
import { ChoiceTable, type ChoiceColumn } from "./choice-table";
import { useFocusBack } from "../client/focus";
import { useAsked } from "../client/hooks";
import { ProblemLine } from "../client/notice";
import { linkTo } from "./router";
import { RunLister, type ListedRun } from "./run-list";
import type { Server } from "../client/server";
import { StartForm } from "./start-form";
import { StatusMark } from "./status-mark";

const LIST_EVERY_MS = 5000;

/** Where a run is started, and earlier ones are found. */
export const HomePage = ({ server }: { server: Server }) => (
  <>
    <Section id="start" title="Start a run">
      <StartForm server={server} />
    </Section>
    <Section id="runs" title="Runs">
      <Runs server={server} />
    </Section>
  </>
);

function Runs({ server }: { server: Server }) {
  const lister = useMemo(() => new RunLister(server), [server]);
  const [pages, setPages] = useState(1);
  const { answer: list, problem } = useAsked(() => lister.list(pages), [lister, pages], LIST_EVERY_MS);
  const end = useFocusBack<HTMLParagraphElement>(list?.hasOlder);
  return (
    <>
      <ProblemLine problem={problem} />
      {!list && !problem && <p class="soft">loading…</p>}
      {list && !list.runs.length && <p class="soft">No run yet. Those of the command line are listed by supervise runs.</p>}
      {list && list.runs.length > 0 && (
        <ChoiceTable
          name="run-list"
          kind="runs"
          rows={list.runs}
          columns={COLUMNS}
          keyOf={({ thread }) => thread}
          labelOf={({ started }) => `compare the run of ${formatMoment(started)}`}
          compare={(older, newer) => linkTo("compare", older, newer)}
        />
      )}
      {list?.hasOlder && (
        <button type="button" class="older" onClick={() => setPages(list.pages + 1)}>
          {list.pages < pages ? "loading…" : "Show older runs"}
        </button>
      )}
      {list && list.pages > 1 && !list.hasOlder && (
        <p class="soft small older" tabIndex={-1} ref={end}>
          These are all runs.
        </p>
      )}
    </>
  );
}

const COLUMNS: readonly ChoiceColumn<ListedRun>[] = [
  { title: "Status", show: ({ status, request }) => <StatusMark status={status} unbegun={request ? "" : "not begun"} /> },
  {
    title: "Request",
    show: ({ thread, request }) => (
      <a href={linkTo("runs", thread)}>
        <Line max={160}>{request || "begins when it is its turn"}</Line>
      </a>
    ),
  },
  { title: "Team", show: ({ team }) => <Line max={60}>{nameTeam(team)}</Line> },
  { title: "Started", isFigure: true, show: ({ started }) => formatMoment(started) },
  { title: "Time", isFigure: true, show: ({ wallS }) => formatSeconds(wallS) },
];
