import { useEffect, useState } from "preact/hooks";
import type { Server } from "../client/server";

const CONTROL = new Set(["supervisor", "approval", "monitor", "synthesizer", "critic", "__start__", "__end__"]);

/** Return the workers of a team: the nodes of its graph that are no control steps. Empty until they are known. */
export function useTeamWorkers(server: Server, graph: string, isWanted: boolean): readonly string[] {
  const [workers, setWorkers] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!isWanted || !graph) return;
    let isGone = false;
    loadGraph(server, graph).then(
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

/** Return a graph by its name; Aegra finds it by the id of an assistant alone. */
async function loadGraph({ client }: Server, graph: string) {
  const [found] = await client.assistants.search({ graphId: graph, limit: 1 });
  return client.assistants.getGraph(found?.assistant_id ?? graph);
}
