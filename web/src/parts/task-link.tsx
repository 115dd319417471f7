import { useSelection } from "./selection";
import { Line } from "./text";

/** The id of a task, which selects it everywhere; `isSwitch`: a second press selects none. */
export function TaskLink({ path, isSwitch = false }: { path: string; isSwitch?: boolean }) {
  const { path: selected, select } = useSelection();
  const isSelected = selected === path;
  return (
    <button type="button" class="link" aria-pressed={isSelected} onClick={() => select(isSelected && isSwitch ? "" : path)}>
      <Line max={80}>{path}</Line>
    </button>
  );
}
