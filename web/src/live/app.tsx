import { useCallback, useMemo, useState } from "preact/hooks";
import { reader } from "../model/asides";
import { WordContext } from "../parts/copy-answer";
import { Shell } from "../parts/shell";
import { ComparePage } from "./compare-page";
import { HomePage } from "./start-form";
import { VisitorContext } from "../client/hooks";
import { forgetKept } from "../client/kept";
import { Missing } from "../client/notice";
import { Problem } from "../client/problem";
import { isPage, linkTo, useRoute } from "./router";
import { Palette } from "./palette";
import { RunPage } from "./run-page";
import { keepToken, makeFile, openServer, readToken, type Server } from "../client/server";
import { TeamsPage } from "./teams-page";
import { TokenForm } from "./token-form";

const LINKS = [
  { id: linkTo().slice(1), title: "New run" },
  { id: linkTo("runs").slice(1), title: "Runs" },
  { id: linkTo("teams").slice(1), title: "Teams" },
];

/** The live page: which of its pages is shown, and for whom. */
export function App() {
  const server = useMemo(openServer, []);
  const [tokens, setTokens] = useState(0);
  const [user, setUser] = useState(0);
  const [isAsking, setAsking] = useState(false);
  reader.ownsServer = !readToken();
  const visitor = { tokens, onRefused: useCallback(() => setAsking(true), []) };
  const useToken = (token: string) => {
    keepToken(token);
    setTokens(tokens + 1);
    setAsking(false);
  };
  const forget = () => {
    useToken("");
    forgetKept();
    setUser(user + 1); // nothing that was shown or written stays
    setAsking(true);
  };
  return (
    <Shell title="supervise" sections={LINKS} tools={!isAsking && <Palette key={user} server={server} />}>
      {isAsking && <TokenForm isRefused={Boolean(readToken())} onToken={useToken} />}
      {/* What was written is there again when the token is known. */}
      <div key={user} hidden={isAsking}>
        <VisitorContext.Provider value={visitor}>
          <WordContext.Provider value={useCallback((markdown: string) => makeFile(server, "answer.docx", markdown), [server])}>
            <CurrentPage server={server} />
          </WordContext.Provider>
        </VisitorContext.Provider>
      </div>
      {readToken() && !isAsking && (
        <p class="no-print">
          <button type="button" onClick={forget}>Forget the token</button>
        </p>
      )}
    </Shell>
  );
}

function CurrentPage({ server }: { server: Server }) {
  const route = useRoute();
  const [path = "", first, second, ...rest] = route;
  if (!isPage(route)) return <Missing problem={new Problem("unknown", `there is no page at this address: ${linkTo(...route)}`)} href={linkTo()}>All runs</Missing>;
  if (path === "teams") return <TeamsPage server={server} rest={[first, second, ...rest].filter((part) => part !== undefined)} />;
  if (path === "runs" && first) return <RunPage key={first} server={server} thread={first} />;
  if (path === "compare" && first && second) return <ComparePage key={`${first} ${second}`} server={server} threads={[first, second]} />;
  return <HomePage server={server} route={route} />;
}
