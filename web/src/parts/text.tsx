import { showHidden, toLine } from "../model/plain-text";

/** Untrusted text, isolated from the direction of what is around it. */
export const Text = ({ children }: { children: unknown }) => <bdi>{showHidden(String(children ?? ""))}</bdi>;

/** Untrusted text on one line. */
export const Line = ({ children, max }: { children: unknown; max?: number }) => <bdi>{toLine(children, max)}</bdi>;
