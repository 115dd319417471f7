import type { ComponentType } from "preact";
import type { Problem } from "./problem";
import type { Server } from "./server";
import { TeamsPage } from "./teams-page";

export interface ExtraPageProps {
  server: Server;
  /** What follows the page's path in the address. */
  rest: string[];
  /** Called with a problem that asks for a token. */
  onProblem: (problem: Problem) => void;
}

/** A page of its own: `#/PATH/…`. */
export interface ExtraPage {
  path: string;
  /** In the navigation. */
  title: string;
  Page: ComponentType<ExtraPageProps>;
}

export const EXTRA_PAGES: readonly ExtraPage[] = [{ path: "teams", title: "Teams", Page: TeamsPage }];
