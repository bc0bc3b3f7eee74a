// Differences of two texts as nodes: what is removed, what is added, word by word.

/* global Diff */

const LONGEST_EDIT = 2_000;
// Numbers stay whole, with their separators and units: 2.4bn; scripts without spaces differ by characters.
const TOKENS = /\s+|\p{N}+(?:[.,:]\p{N}+)*\p{L}*|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}])+|./gsu;
const tokensOf = (text) => text.match(TOKENS) ?? [];

/** Nodes for the change from one text to another; texts that differ in nearly everything are shown one after the other. */
export function differences(before, after) {
  const parts = Diff.diffArrays(tokensOf(before), tokensOf(after), { maxEditLength: LONGEST_EDIT });
  return (parts ?? [{ removed: true, value: [before] }, { added: true, value: [after] }]).map((part) => {
    const text = part.value.join("");
    if (!part.added && !part.removed) return document.createTextNode(text);
    const node = document.createElement(part.added ? "ins" : "del");
    node.textContent = text;
    return node;
  });
}
