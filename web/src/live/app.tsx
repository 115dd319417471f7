import { useMemo, useState } from "preact/hooks";
import { Shell } from "../parts/shell";
import { ComparePage } from "./compare-page";
import { HomePage } from "./home-page";
import { EXTRA_PAGES } from "./pages";
import { Problem } from "./problem";
import { linkTo, useRoute } from "./router";
import { RunPage } from "./run-page";
import { keepToken, openServer, readToken, type Server } from "./server";
import { TokenForm } from "./token-form";

const UNKNOWN_TOKEN = new Problem("unauthorized", "the server does not know this token, or it has no right to see runs");

/** The live page: which of its pages is shown, and with which token. */
export function App() {
  const [token, setToken] = useState(readToken);
  const [problem, setProblem] = useState<Problem | null>(null);
  const server = useMemo(() => openServer(token), [token]);
  const useToken = (given: string) => {
    keepToken(given);
    setToken(given);
    setProblem(null);
  };
  const links = [{ path: "", title: "Runs" }, ...EXTRA_PAGES];
  return (
    <Shell title="supervise" sections={links.map(({ path, title }) => ({ id: linkTo(path).slice(1), title }))}>
      {problem ? (
        <TokenForm problem={token ? UNKNOWN_TOKEN : problem} onToken={useToken} />
      ) : (
        <CurrentPage server={server} onProblem={setProblem} />
      )}
      {token && !problem && (
        <p class="no-print">
          <button type="button" onClick={() => useToken("")}>
            Forget the token
          </button>
        </p>
      )}
    </Shell>
  );
}

function CurrentPage({ server, onProblem }: { server: Server; onProblem: (problem: Problem) => void }) {
  const [path = "", ...rest] = useRoute();
  const extra = EXTRA_PAGES.find((each) => each.path === path);
  if (extra) return <extra.Page server={server} rest={rest} />;
  if (path === "runs" && rest[0]) return <RunPage key={rest[0]} server={server} thread={rest[0]} onProblem={onProblem} />;
  if (path === "compare" && rest[0] && rest[1]) {
    return <ComparePage server={server} threads={[rest[0], rest[1]]} onProblem={onProblem} />;
  }
  return <HomePage server={server} onProblem={onProblem} />;
}
