import type { Point } from "./plan-layout";

const at = ({ x, y }: Point): string => `${x.toFixed(1)} ${y.toFixed(1)}`;

/** Return the path of an edge: a smooth line through its points that leaves and enters straight. */
export function drawEdge(points: readonly Point[], direction: "LR" | "TB"): string {
  const [first, ...others] = points;
  if (!first) return "";
  let from = first;
  const curves = others.map((to) => {
    const middle = direction === "LR" ? (from.x + to.x) / 2 : (from.y + to.y) / 2;
    const [one, other] =
      direction === "LR" ? [{ x: middle, y: from.y }, { x: middle, y: to.y }] : [{ x: from.x, y: middle }, { x: to.x, y: middle }];
    from = to;
    return `C${at(one)} ${at(other)} ${at(to)}`;
  });
  return `M${at(first)}${curves.join("")}`;
}
