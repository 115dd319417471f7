import { createContext, type ComponentChildren } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";

/** The task that is selected, by its path, wherever it is shown; empty for none. */
export interface Selection {
  path: string;
  select: (path: string) => void;
}

const SelectionContext = createContext<Selection>({ path: "", select: () => undefined });

export const useSelection = (): Selection => useContext(SelectionContext);

export function SelectionProvider({ children }: { children: ComponentChildren }) {
  const [path, select] = useState("");
  const selection = useMemo(() => ({ path, select }), [path]);
  return <SelectionContext.Provider value={selection}>{children}</SelectionContext.Provider>;
}
