import { useLayoutEffect, useState } from "preact/hooks";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

const KEY = "supervise_colours";
/** A browser may keep nothing: then the choice is that of this page. */
const readTheme = (): Theme => {
  try {
    return THEMES.find((name) => name === localStorage.getItem(KEY)) ?? "auto";
  } catch {
    return "auto";
  }
};
const keepTheme = (theme: Theme): void => {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It is applied, and forgotten with the page.
  }
};

/** Switches between the colours of the system, light and dark. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  useLayoutEffect(() => applyTheme(theme), []);
  const choose = (chosen: Theme) => {
    applyTheme(chosen);
    keepTheme(chosen);
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
