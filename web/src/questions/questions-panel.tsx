import { useEffect, useRef, useState } from "preact/hooks";
import { useFocusBack } from "../client/focus";
import { useAction } from "../client/hooks";
import { useKept } from "../client/kept";
import type { LiveRun } from "../client/live-run";
import { Notice, ProblemLine } from "../client/notice";
import type { Run } from "../model/trace";
import { Line } from "../parts/text";
import type { Draft } from "../plan-editor/draft";
import { PlanEditor } from "../plan-editor/plan-editor";
import { useTeamWorkers } from "../plan-editor/team-workers";
import { CallForm, OtherForm, QuestionForm } from "./answer-form";
import { readQuestions, type Question } from "../client/question";
import { respond, type Replies, type Reply } from "../client/replies";
import { sendReplies } from "./send-replies";
import { pressKey, Waiting } from "./waiting";

/** What a question is asked for: a refused plan has another id, and a plan that is made again another version. */
const nameQuestion = (question: Question): string =>
  question.kind === "plan" ? `plan ${question.task} ${question.plan.version}` : question.id;

const TITLE = "questions";

/** The questions that a run waits for, each with its form. */
export function QuestionsPanel({ run }: { run: LiveRun }) {
  const open = readQuestions(run.status === "running" ? [] : run.questions);
  const [drafts, setDrafts] = useKept<Record<string, Draft | null>>(`plans ${run.thread}`, {});
  const [words, setWords] = useKept<Record<string, string>>(`answers ${run.thread}`, {});
  const [sent, setSent] = useState<readonly string[]>([]);
  const [late, setLate] = useState<readonly string[]>([]);
  const sending = useAction(async (replies: Replies) => {
    setSent(Object.keys(replies));
    setLate((await sendReplies(run, replies)) ? [] : Object.keys(replies));
  });
  const workers = useTeamWorkers(run.server, run.graph, open.some(({ kind }) => kind === "plan"));
  const elsewhere = useAnsweredElsewhere(open, sent) || late.some((each) => !open.some(({ id }) => id === each));
  const names = open.map(nameQuestion).join("\n");
  const title = useFocusBack<HTMLHeadingElement>(names);

  const written = Object.fromEntries(
    open.flatMap(({ id, kind }) => (kind === "question" && words[id]?.trim() ? [[id, respond(words[id])]] : [])),
  );
  return (
    <>
      <ProblemLine problem={sending.problem} />
      {elsewhere && !sending.problem && run.status !== "stopped" && (
        <Notice>A question was answered in another tab or by another user first. This is how the run went on.</Notice>
      )}
      {open.length > 0 && (
        <section class="questions" aria-labelledby={TITLE} aria-busy={sending.isBusy} onKeyDown={pressKey}>
          <h2 id={TITLE} tabIndex={-1} ref={title}>{nameAsked(open)}</h2>
          <Waiting open={open} trace={run.trace} />
          {open.map((question) => {
            const key = nameQuestion(question);
            const form = {
              words: words[question.id],
              isBusy: sending.isBusy,
              onWords: (said: string) => setWords({ ...words, [question.id]: said }),
              onReply: (said: Reply) => sending.start({ [question.id]: said }),
            };
            return (
              <article key={key} class="question box" tabIndex={0} aria-label={question.task || "the plan"}>
                <QuestionHead question={question} />
                {question.kind === "plan" && (
                  <PlanEditor
                    question={question}
                    draft={drafts[key] ?? null}
                    workers={workers}
                    files={question.task ? [] : listGiven(run.trace?.run)}
                    isBusy={sending.isBusy}
                    onDraft={(draft) => setDrafts({ ...drafts, [key]: draft })}
                    onReply={form.onReply}
                  />
                )}
                {question.kind === "question" && <QuestionForm question={question} {...form} />}
                {question.kind === "tool_call" && <CallForm question={question} {...form} />}
                {question.kind === "other" && <OtherForm question={question} {...form} />}
              </article>
            );
          })}
          {Object.keys(written).length > 1 && (
            <button type="button" class="primary" disabled={sending.isBusy} onClick={() => sending.start(written)}>
              Send the {Object.keys(written).length} answers
            </button>
          )}
          <p class="soft small" role="status">{sending.isBusy && "Sending…"}</p>
        </section>
      )}
    </>
  );
}

const listGiven = (run?: Run): string[] => [...(run?.materials ?? []), ...(run?.kept_materials ?? [])];

/** Return what the run waits for, as a title. */
export function nameAsked(open: readonly Question[]): string {
  const [first] = open;
  if (open.length > 1) return `The run waits for ${open.length} answers`;
  if (first?.kind === "plan") return first.number > 1 ? `Approve version ${first.number} of the plan?` : "Approve this plan?";
  return first?.kind === "tool_call" ? "A call waits for your permission" : "The run waits for your answer";
}

function QuestionHead({ question }: { question: Question }) {
  const problems = question.kind === "plan" ? [] : question.problems;
  return (
    <>
      {(question.task || question.worker) && (
        <p class="soft small">
          <Line max={80}>{question.task}</Line>
          {question.worker !== question.task && (
            <>
              {question.task && question.worker && " · "}
              <Line max={60}>{question.worker}</Line>
            </>
          )}
        </p>
      )}
      {problems.map((problem) => (
        <p key={problem} class="form-problem small" role="alert">
          The last reply could not be used: <Line max={400}>{problem}</Line>
        </p>
      ))}
    </>
  );
}

/** Return whether a question that was shown is gone, though this tab has not answered it. */
function useAnsweredElsewhere(open: readonly Question[], sent: readonly string[]): boolean {
  const shown = useRef<readonly Question[]>([]);
  const [isGone, setGone] = useState(false);
  useEffect(() => {
    const names = new Set(open.map(nameQuestion));
    const before = new Set(shown.current.map(nameQuestion));
    if (shown.current.some((each) => !names.has(nameQuestion(each)) && !sent.includes(each.id))) setGone(true);
    else if (open.some((each) => !before.has(nameQuestion(each)))) setGone(false);
    shown.current = open;
  }, [open.map(({ id }) => id).join("\n")]);
  return isGone;
}
