import { createContext, type ComponentChildren } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";

/** The task that is selected, by its path, wherever it is shown; empty for none. */
export interface Selection {
  path: string;
  select: (path: string) => void;
}

const SelectionContext = createContext<Selection>({ path: "", select: () => undefined });

export const useSelection = (): Selection => useContext(SelectionContext);

interface SelectionProviderProps {
  /** Path of the task that is selected at first. */
  start?: string | undefined;
  onSelect?: ((path: string) => void) | undefined;
  children: ComponentChildren;
}

export function SelectionProvider({ start = "", onSelect, children }: SelectionProviderProps) {
  const [path, setPath] = useState(start);
  const selection = useMemo(() => {
    const select = (chosen: string) => {
      setPath(chosen);
      onSelect?.(chosen);
    };
    return { path, select };
  }, [path, onSelect]);
  return <SelectionContext.Provider value={selection}>{children}</SelectionContext.Provider>;
}
