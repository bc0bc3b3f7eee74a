// Differences of two texts as nodes: what is removed, what is added, word by word.

/* global Diff */

const LONGEST_EDIT = 2_000;

/** Nodes for the change from one text to another; texts that differ in nearly everything are shown one after the other. */
export function differences(before, after) {
  const parts = Diff.diffWordsWithSpace(before, after, { maxEditLength: LONGEST_EDIT });
  return (parts ?? [{ removed: true, value: before }, { added: true, value: after }]).map((part) => {
    if (!part.added && !part.removed) return document.createTextNode(part.value);
    const node = document.createElement(part.added ? "ins" : "del");
    node.textContent = part.value;
    return node;
  });
}
