import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { readStored, store } from "../model/stored";

/** A link of the page's navigation, to the section with this id. */
export interface SectionLink {
  id: string;
  title: string;
}

interface ShellProps {
  title: ComponentChildren;
  sections: SectionLink[];
  /** Beside the links. */
  tools?: ComponentChildren;
  children: ComponentChildren;
}

/** The frame of a page: its title, links to its sections, and the colours. */
export const Shell = ({ title, sections, tools, children }: ShellProps) => (
  <>
    <a class="skip-link no-print" href="#main">To the content</a>
    <header class="page-header flow">
      <h1 class="product">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d="M16 9v12M7 21v-5h18v5" />
          <path d="M16 4.5a4 4 0 1 0 .1 0zM7 20a3 3 0 1 0 .1 0zM16 20a3 3 0 1 0 .1 0zM25 20a3 3 0 1 0 .1 0z" fill="currentColor" />
        </svg>
        {title}
      </h1>
      <nav aria-label="Sections" class="flow no-print">
        {sections.map(({ id, title: name }) => (
          <a key={id} href={`#${id}`}>
            {name}
          </a>
        ))}
      </nav>
      {tools}
      <ThemeSwitch />
    </header>
    <main id="main" tabIndex={-1}>{children}</main>
  </>
);

interface SectionProps extends SectionLink {
  children: ComponentChildren;
}

/** A section with its heading. */
export const Section = ({ id, title, children }: SectionProps) => (
  <section id={id} aria-labelledby={`${id}-title`} class="page-section">
    <h2 id={`${id}-title`}>{title}</h2>
    {children}
  </section>
);

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const KEY = "supervise_colours";
const readTheme = (): Theme => THEMES.find((name) => name === readStored("localStorage", KEY)) ?? "auto";

/** Switches between the colours of the system, light and dark. */
function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  useLayoutEffect(() => void (document.documentElement.dataset["theme"] = theme), [theme]);
  const choose = (chosen: Theme) => {
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
