import { useEffect, useRef, useState } from "preact/hooks";
import type { Server } from "../client/server";
import { formatMoment, nameTeam } from "../model/format";
import { Line } from "../parts/text";
import { useListener } from "../parts/use-listener";
import { linkTo } from "./router";
import { RunLister } from "./run-list";
import { nameStatus } from "./status-mark";
import { listAssistants } from "./team-server";

interface Entry {
  kind: string;
  words: string;
  address: string;
}

const MAX_SHOWN = 12;
const PLACES: Entry[] = [
  { kind: "Go to", words: "Start a run", address: linkTo() },
  { kind: "Go to", words: "Runs", address: linkTo("runs") },
  { kind: "Go to", words: "Teams", address: linkTo("teams") },
];
const SHORTCUTS: readonly (readonly [keys: string, does: string])[] = [
  ["Ctrl K", "find a run, a team or a page"],
  ["Ctrl Enter", "send what you have written in the field"],
  ["A", "accept: in a question or a plan that waits, which Tab goes to"],
  ["E", "change it"],
  ["R", "reject it, with a reason"],
  ["Arrows", "from task to task in a drawing; + − 0 for its size"],
  ["Enter", "open the task; Delete takes it out of a plan that waits"],
  ["Esc", "close what is open"],
];

async function loadEntries(server: Server): Promise<Entry[]> {
  const [list, teams] = await Promise.all([new RunLister(server).list().catch(() => null), listAssistants(server).catch(() => [])]);
  const names = [...new Set(teams.map(({ graph_id }) => graph_id))].sort();
  return [
    ...(list?.runs ?? []).map(({ thread, title, request, status, started }) => ({ kind: `${nameStatus(status)}, ${formatMoment(started)}`, words: [title, request].filter(Boolean).join(" – "), address: linkTo("runs", thread) })),
    ...names.map((name) => ({ kind: "Team", words: nameTeam(name), address: linkTo("teams", name) })),
  ];
}

/** Return the entries that hold all words, in any case. */
export function findEntries(entries: readonly Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => words.every((word) => `${entry.kind} ${entry.words}`.toLowerCase().includes(word))).slice(0, MAX_SHOWN);
}

/** Finds runs, teams and pages by words, and lists the keys of the page: opened by Ctrl+K or its button. */
export function Palette({ server }: { server: Server }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  useListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    setOpen(true);
  });
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <>
      <button type="button" class="palette-button no-print" data-key="Ctrl K" onClick={() => setOpen(true)}>Find</button>
      {isOpen && (
        <dialog class="palette" aria-label="Find" ref={dialog} onClose={() => setOpen(false)} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
          <Finder server={server} onDone={() => dialog.current?.close()} />
        </dialog>
      )}
    </>
  );
}

function Finder({ server, onDone }: { server: Server; onDone: () => void }) {
  const [known, setKnown] = useState<readonly Entry[]>(PLACES);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => {
    void loadEntries(server).then((found) => setKnown([...PLACES, ...found]));
  }, [server]);
  const found = findEntries(known, text);
  const chosen = Math.min(at, found.length - 1);
  const go = (entry: Entry | undefined) => {
    if (!entry) return;
    onDone();
    location.hash = entry.address;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    if (step) setAt((chosen + step + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter") go(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        role="combobox"
        aria-expanded={true}
        aria-controls="palette-found"
        aria-activedescendant={found.length ? `found-${chosen}` : undefined}
        aria-label="Words of a run, a team or a page"
        placeholder="Find a run, a team, a page"
        autofocus
        value={text}
        onInput={(event) => (setText(event.currentTarget.value), setAt(0))}
        onKeyDown={onKeyDown}
      />
      <ul class="bare" role="listbox" id="palette-found" aria-label="Found">
        {found.map((entry, index) => (
          <li key={entry.address} id={`found-${index}`} role="option" aria-selected={index === chosen} onClick={() => go(entry)} onPointerMove={() => setAt(index)}>
            <Line max={90}>{entry.words}</Line> <span class="soft small">{entry.kind}</span>
          </li>
        ))}
      </ul>
      {!found.length && <p class="empty soft">Nothing is called that.</p>}
      <details>
        <summary>Keys of this page</summary>
        <dl class="shortcuts">
          {SHORTCUTS.map(([keys, does]) => (
            <div key={keys}>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  );
}
