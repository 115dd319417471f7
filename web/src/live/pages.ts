import type { ComponentType } from "preact";
import type { Server } from "./server";

/** A page of its own: `#/PATH/…`, with what follows its path. */
export interface ExtraPage {
  path: string;
  /** In the navigation. */
  title: string;
  Page: ComponentType<{ server: Server; rest: string[] }>;
}

export const EXTRA_PAGES: readonly ExtraPage[] = [];
