import { useState } from "preact/hooks";
import { useFocus } from "../client/focus";
import { ProblemLine } from "../client/notice";
import { Problem } from "../client/problem";

const UNKNOWN = new Problem("unauthorized", "The server does not know this token, or no longer. What you have written on this page is kept.");
const MISSING = new Problem("unauthorized", "The server shows runs to its users only.");

interface TokenFormProps {
  /** Whether a token was refused. */
  isRefused: boolean;
  onToken: (token: string) => void;
}

/** Asks for the token of a server with users. */
export function TokenForm({ isRefused, onToken }: TokenFormProps) {
  const [token, setToken] = useState("");
  const field = useFocus<HTMLInputElement>();
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim()) onToken(token.trim());
  };
  return (
    <form onSubmit={submit} class="token-form">
      <h1>This server has users</h1>
      <ProblemLine problem={isRefused ? UNKNOWN : MISSING} />
      <label for="token">Your token</label>
      <input
        id="token"
        ref={field}
        type="password"
        autocomplete="off"
        spellcheck={false}
        value={token}
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <button class="primary" type="submit" disabled={!token.trim()}>Use it</button>
      <p class="soft small">
        Whoever runs the server makes it. It is kept in this tab only, until it is closed, and sent to this server alone.
      </p>
    </form>
  );
}
