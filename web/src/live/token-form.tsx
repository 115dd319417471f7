import { useState } from "preact/hooks";
import type { Problem } from "./problem";
import { ProblemLine } from "./notice";

interface TokenFormProps {
  problem: Problem;
  onToken: (token: string) => void;
}

/** Asks for the token of a server with users. */
export function TokenForm({ problem, onToken }: TokenFormProps) {
  const [token, setToken] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim()) onToken(token.trim());
  };
  return (
    <form onSubmit={submit} class="token-form">
      <h1>This server has users</h1>
      <ProblemLine problem={problem} />
      <label for="token">Your token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        spellcheck={false}
        value={token}
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <button class="primary" type="submit">
        Use it
      </button>
      <p class="soft small">It is kept in this tab only, until it is closed, and sent to this server alone.</p>
    </form>
  );
}
