/** Runs that are deleted when the time to undo it is over. */

import { readProblem, type Problem } from "../client/problem";

export const UNDO_S = 8;

/** Hides threads at once and deletes them later; those that cannot be deleted are shown again. */
export class Deletion {
  /** The threads that can still be kept. */
  pending: readonly string[] = [];
  /** Why the last one could not be deleted. */
  problem: Problem | null = null;
  private readonly hidden = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly remove: (thread: string) => Promise<void>,
    private readonly onChange: () => void,
  ) {}

  isHidden(thread: string): boolean {
    return this.hidden.has(thread);
  }

  /** Delete threads, with those that are pending, in `UNDO_S` seconds. */
  start(threads: readonly string[]): void {
    this.problem = null;
    this.pending = [...this.take(), ...threads];
    for (const thread of threads) this.hidden.add(thread);
    this.timer = setTimeout(() => void this.carryOut(), UNDO_S * 1000);
    this.onChange();
  }

  undo(): void {
    for (const thread of this.take()) this.hidden.delete(thread);
    this.onChange();
  }

  /** Delete what is pending now, also while earlier threads are being deleted. */
  async carryOut(): Promise<void> {
    const threads = this.take();
    if (!threads.length) return;
    this.onChange();
    for (const thread of threads) {
      try {
        await this.remove(thread);
      } catch (error) {
        this.problem = readProblem(error);
        this.hidden.delete(thread);
      }
    }
    this.onChange();
  }

  private take(): readonly string[] {
    clearTimeout(this.timer);
    const taken = this.pending;
    this.pending = [];
    return taken;
  }
}
