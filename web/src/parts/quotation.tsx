import type { Passage } from "../model/sources";
import { Text } from "./text";

/** A quotation in the text it is from. */
export const Quotation = ({ passage }: { passage: Passage }) => (
  <blockquote class="quotation" dir="auto">
    <Text>{passage.before && `…${passage.before}`}</Text>
    <mark>
      <Text>{passage.quote}</Text>
    </mark>
    <Text>{passage.after && `${passage.after}…`}</Text>
  </blockquote>
);
