import { toLine } from "../model/plain-text";
import { useSelection } from "./selection";

/** The id of a task, which selects it everywhere. */
export function TaskLink({ path }: { path: string }) {
  const { path: selected, select } = useSelection();
  return (
    <button type="button" class="link" aria-pressed={selected === path} onClick={() => select(path)}>
      <bdi>{toLine(path, 80)}</bdi>
    </button>
  );
}
