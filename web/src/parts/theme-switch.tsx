import { useLayoutEffect, useState } from "preact/hooks";
import { readStored, store } from "../model/stored";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

const KEY = "supervise_colours";
const readTheme = (): Theme => THEMES.find((name) => name === readStored("localStorage", KEY)) ?? "auto";

/** Switches between the colours of the system, light and dark. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  useLayoutEffect(() => applyTheme(theme), []);
  const choose = (chosen: Theme) => {
    applyTheme(chosen);
    store("localStorage", KEY, chosen);
    setTheme(chosen);
  };
  return (
    <label class="theme-switch no-print">
      Colours{" "}
      <select value={theme} onChange={(event) => choose(event.currentTarget.value as Theme)}>
        {THEMES.map((name) => (
          <option key={name} value={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}
