// Passages of sources: those of the selected claim are outlined in the colour of its verdict, all others are neutral.

/** Outline the passages of a claim; none for an unknown claim. Returns the outlined elements. */
export function showPassages(root, claim) {
  const chosen = [];
  for (const mark of root.querySelectorAll("[data-passages]")) {
    const verdict = mark.dataset.passages.split(" ").map((each) => each.split(":")).find(([id]) => id === claim)?.[1];
    mark.className = verdict ? `passage selected ${verdict.replace(".", " ")}` : "passage";
    if (verdict) chosen.push(mark);
  }
  return chosen;
}
