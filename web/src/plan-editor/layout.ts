/** Where the tasks of a draft are drawn. */

import { placeGraph } from "../model/plan-layout";
import type { Draft } from "./draft";

export const BOX = { width: 168, height: 52 };

/** Return what the picture of a draft depends on. */
export const nameForm = ({ tasks }: Draft): string => JSON.stringify(tasks.map(({ id, depends_on }) => [id, depends_on]));

/** Return the picture of a draft, from left to right; needs that the draft has no task for are left out. */
export function placeDraft({ tasks }: Draft) {
  const sizes = new Map(tasks.map(({ id }) => [id, BOX]));
  const needs = tasks.flatMap(({ id, depends_on }) => depends_on.map(({ task, required }) => ({ from: task, to: id, required })));
  const known = needs.filter(({ from }) => sizes.has(from));
  const { boxes, ...picture } = placeGraph(sizes, known, { direction: "LR", nodesep: 18, ranksep: 46, marginx: 8, marginy: 8 });
  return { ...picture, boxes: [...boxes].map(([id, box]) => ({ id, ...box })) };
}
