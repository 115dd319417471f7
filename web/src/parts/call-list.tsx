import { useState } from "preact/hooks";
import { findPurpose, namePurpose } from "../model/costs";
import { isWithoutModel } from "../model/estimate";
import { countOf, formatCount, formatSeconds } from "../model/format";
import type { TraceEvent } from "../model/trace";
import { LongText } from "./long-text";
import { useRun } from "./run-context";
import { Line, Text } from "./text";

/** The calls of an attempt: tools with arguments and results, models with tokens. */
export function CallList({ calls: all, isOpen }: { calls: TraceEvent[]; isOpen: boolean }) {
  const { trace } = useRun();
  const calls = isWithoutModel(trace) ? all.filter(({ kind }) => kind !== "model_call") : all;
  if (!calls.length) return null;
  const count = (wanted: string) => calls.filter(({ kind }) => kind === wanted).length;
  const [models, tools] = [count("model_call"), count("tool_call")];
  return (
    <details open={isOpen}>
      <summary>
        {[models > 0 && countOf(models, "model call"), tools > 0 && countOf(tools, "tool call")].filter(Boolean).join(", ") || countOf(calls.length, "call")}
      </summary>
      <ul class="calls">
        {calls.map((call, index) => (
          <li key={index}>{call.kind === "tool_call" ? <ToolCall call={call} /> : <ModelCall call={call} />}</li>
        ))}
      </ul>
    </details>
  );
}

function ToolCall({ call }: { call: TraceEvent }) {
  const [isOpen, setOpen] = useState(false);
  const error = call["error"];
  const notes = [call["repeated"] && "answered from an earlier call", call["denied"] && "denied"].filter(Boolean);
  return (
    <details class={error ? "call failed" : "call"} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code><Line max={60}>{call["tool"]}</Line></code>{" "}
        <span class="soft small">
          {formatSeconds(call["seconds"] as number)} {notes.join(", ")} {error ? "✕ failed" : ""}
        </span>
        <span class="call-arguments soft"><Line max={120}>{JSON.stringify(call["args"])}</Line></span>
      </summary>
      {isOpen && (
        <>
          <h4>Arguments</h4>
          <LongText text={JSON.stringify(call["args"] ?? {}, null, 2)} isCode />
          <h4>{error ? "Error" : "Result"}</h4>
          <LongText text={formatResult(error ?? call["result"])} max={4000} isCode />
        </>
      )}
    </details>
  );
}

function ModelCall({ call }: { call: TraceEvent }) {
  const purpose = call.kind === "model_call" ? namePurpose(findPurpose(call)) : call.kind.replace("_", " ");
  const hasContent = Boolean(call["prompt"] ?? call["reply"]);
  const line = (
    <>
      <Line max={60}>{purpose}</Line>{" "}
      <span class="soft small">
        <Line max={200}>{call["model"] ?? call["said"] ?? call["outcome"] ?? call["host"]}</Line>
        {call["seconds"] != null && `, ${formatSeconds(call["seconds"] as number)}`}
        {call["input_tokens"] != null && `, ${formatCount(Number(call["input_tokens"]))} tokens in, ${formatCount(Number(call["output_tokens"]))} out`}
        {call["cancelled"] === true && ", cancelled"}
        {Boolean(call["error"]) && (
          <span class="problem">
            {" "}
            ✕ <Text>{call["error"]}</Text>
          </span>
        )}
      </span>
    </>
  );
  if (!hasContent) return <p class="call">{line}</p>;
  return (
    <details class="call">
      <summary>{line}</summary>
      <Messages title="Prompt" messages={call["prompt"]} />
      <Messages title="Reply" messages={call["reply"]} />
    </details>
  );
}

const Messages = ({ title, messages }: { title: string; messages: unknown }) =>
  Array.isArray(messages) ? (
    <>
      <h4>{title}</h4>
      {(messages as { role?: string; text?: string; tool_calls?: unknown }[]).map((message, index) => (
        <div key={index}>
          <p class="soft small">{message.role}</p>
          {message.text && <LongText text={message.text} isCode />}
          {message.tool_calls ? <LongText text={JSON.stringify(message.tool_calls, null, 2)} isCode /> : null}
        </div>
      ))}
    </>
  ) : null;

/** Return a result with line breaks where it is JSON. */
function formatResult(result: unknown): string {
  if (typeof result !== "string") return JSON.stringify(result ?? null, null, 2);
  try {
    return JSON.stringify(JSON.parse(result), null, 2);
  } catch {
    return result;
  }
}
