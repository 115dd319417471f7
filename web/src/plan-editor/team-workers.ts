import { useEffect, useState } from "preact/hooks";
import type { Server } from "../live/server";

const CONTROL = new Set(["supervisor", "approval", "monitor", "synthesizer", "critic", "__start__", "__end__"]);

/** Return the workers of a team: the nodes of its graph that are no control steps. Empty until they are known. */
export function useTeamWorkers(server: Server, graph: string, isWanted: boolean): readonly string[] {
  const [workers, setWorkers] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!isWanted || !graph) return;
    let isGone = false;
    server.client.assistants.getGraph(graph).then(
      ({ nodes }) => {
        const names = nodes.map(({ id }) => String(id)).filter((id) => !CONTROL.has(id));
        if (!isGone) setWorkers(names);
      },
      () => undefined, // the workers of the plan can be chosen, and the server checks the name
    );
    return () => {
      isGone = true;
    };
  }, [server, graph, isWanted]);
  return workers;
}
