// Differences of two texts as nodes: what is removed, what is added, word by word.

/* global Diff */

const LONGEST_EDIT = 2_000;
// Numbers stay whole, with their separators and units: 2.4bn; scripts without spaces differ by characters.
const TOKENS = /\s+|\p{N}+(?:[.,:]\p{N}+)*\p{L}*|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}])+|./gsu;
const tokensOf = (text) => text.match(TOKENS) ?? [];

/** Nodes for the change from one text to another; texts that differ in nearly everything are shown one after the other. */
export function differences(before, after) {
  const parts = Diff.diffArrays(tokensOf(before), tokensOf(after), { maxEditLength: LONGEST_EDIT });
  return (parts ? changesOf(parts) : [{ removed: before, added: after }]).flatMap(({ same, removed, added }) => [
    ...(same ? [document.createTextNode(same)] : []),
    ...(removed ? [changed("del", removed)] : []),
    ...(added ? [changed("ins", added)] : []),
  ]);
}

/** Changes with the unchanged text before each; words that were replaced in a row are one change, not one for each word. */
function changesOf(parts) {
  const changes = [{ same: "", removed: "", added: "" }];
  parts.forEach((part, index) => {
    const text = part.value.join("");
    const last = changes.at(-1);
    const isChange = part.added || part.removed;
    if (isChange) last[part.added ? "added" : "removed"] += text;
    else if (text.trim() === "" && last.removed && last.added && index < parts.length - 1) {
      last.removed += text;
      last.added += text;
    } else changes.push({ same: text, removed: "", added: "" });
  });
  return changes;
}

/** A removed or added text; styles keep what is removed out of copied text, and name both for screen readers. */
function changed(name, text) {
  const node = document.createElement(name);
  node.className = "change";
  node.textContent = text;
  return node;
}
