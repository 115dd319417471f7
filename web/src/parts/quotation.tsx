import type { Passage } from "../model/sources";
import { Text } from "./text";

/** A text of a document without the signs of Markdown's headings and emphasis. */
const clean = (text: string): string => text.replace(/^#{1,6} +/gm, "").replace(/\*\*(?=\S)|(?<=\S)\*\*/g, "");

/** Return the part of a paragraph before a quotation, from a whole word on. */
const readBefore = (text = ""): string => {
  const last = text.split(/\n\s*\n/).at(-1)!;
  return last === text && text.trim() ? text.replace(/^\S*\s/, "… ") : last;
};

const readAfter = (text = ""): string => {
  const first = text.split(/\n\s*\n/)[0]!;
  return first === text && text.trim() ? text.replace(/\s\S*$/, " …") : first;
};

/** A quotation in the paragraph it is from. */
export function Quotation({ passage: { before, quote, after } }: { passage: Pick<Passage, "quote"> & Partial<Passage> }) {
  const around = [readBefore(before), readAfter(after)] as const;
  const said = <Text>{clean(quote)}</Text>;
  return (
    <blockquote class="quotation" dir="auto">
      <Text>{clean(around[0])}</Text>
      {around.some(Boolean) ? <mark>{said}</mark> : said}
      <Text>{clean(around[1])}</Text>
    </blockquote>
  );
}
