import { useAsked } from "../client/hooks";
import type { Server } from "../client/server";

const CONTROL = new Set(["supervisor", "approval", "monitor", "synthesizer", "critic", "__start__", "__end__"]);

/** Return the workers of a team: the nodes of its graph that are no control steps. Empty until they are known. */
export function useTeamWorkers(server: Server, graph: string, isWanted: boolean): readonly string[] {
  // Without an answer the workers of the plan can be chosen, and the server checks the name.
  const { answer } = useAsked(async () => (isWanted && graph ? loadWorkers(server, graph) : []), [server, graph, isWanted]);
  return answer ?? [];
}

/** Return the workers of a graph by its name; Aegra finds it by the id of an assistant alone. */
async function loadWorkers({ client }: Server, graph: string): Promise<string[]> {
  const [found] = await client.assistants.search({ graphId: graph, limit: 1 });
  const { nodes } = await client.assistants.getGraph(found?.assistant_id ?? graph);
  return nodes.map(({ id }) => String(id)).filter((id) => !CONTROL.has(id));
}
