import { useEffect } from "preact/hooks";
import type { Server } from "../client/server";
import { Section } from "../parts/shell";
import { RunTable } from "./run-table";
import { StartForm } from "./start-form";

/** Where a run is started, and earlier ones are found. */
export function HomePage({ server, part, team }: { server: Server; part: string; team: string | undefined }) {
  useEffect(() => document.getElementById(part)?.scrollIntoView(), [part]);
  return (
    <>
      <Section id="start" title="Start a run">
        <StartForm key={team} server={server} first={team} />
      </Section>
      <Section id="runs" title="Runs">
        <RunTable server={server} />
      </Section>
    </>
  );
}
