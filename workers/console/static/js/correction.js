// The editor of a correction, with its changes and what readers get from it.

import { say } from "./common.js";
import { showStale } from "./comparison.js";
import { askDiscard } from "./dialogs.js";
import { differences } from "./diff.js";
import { showCorrection, showOutcome } from "./outcomes.js";
import { holder, isOpen, item, keep } from "./review_item.js";

const DIFF_WAIT_MS = 150;
let diffTimer = 0;

export const correctionOpen = () => document.getElementById("correction")?.hidden === false;

/** Whether a correction was typed that differs from the answer. */
export const isEdited = () => {
  const corrected = document.getElementById("corrected");
  return corrected !== null && corrected.value.trim() !== corrected.defaultValue.trim();
};

/** Whether the typed correction holds nothing that readers could see. */
export const isBlank = () => document.getElementById("corrected").value.trim() === "";

/** Say above the decision that an edit was not sent: the editor may be closed or out of sight. */
export const showUnsent = () => document.getElementById("unsent-edit")?.toggleAttribute("hidden", !isEdited());

function showEditor(open) {
  document.getElementById("correction").hidden = !open;
  document.getElementById("editor-closed")?.toggleAttribute("hidden", open);
}

export function openCorrection(focus = true) {
  showEditor(true);
  showOutcome("correct");
  if (focus) {
    document.getElementById("corrected").focus();
    if (!isEdited()) goToClaim();
    showEditorWithButtons();
  }
  showDiff();
}

/** Scroll the editor with what sends it above the bar of the decision; a large editor comes before its buttons. */
function showEditorWithButtons() {
  document.querySelector("#correction .buttons").scrollIntoView({ block: "nearest" });
  document.getElementById("corrected").scrollIntoView({ block: "nearest" });
}

// The keyboard of a phone takes half of the window.
addEventListener("resize", () => {
  if (document.activeElement?.id === "corrected") showEditorWithButtons();
});

/** Put the cursor at the end of the selected claim and scroll to it, so that it is found in a long answer. */
function goToClaim() {
  const row = holder.querySelector(".selected-row");
  if (!row) return;
  const corrected = document.getElementById("corrected");
  const text = corrected.value;
  const characters = [...text]; // offsets count code points
  const end = characters.slice(0, Number(row.dataset.end)).join("").length;
  // Browsers tell the height of a text, not of a place in it.
  corrected.value = text.slice(0, end);
  const below = corrected.scrollHeight;
  corrected.value = text;
  corrected.setSelectionRange(end, end);
  corrected.scrollTop = below - corrected.clientHeight / 2;
}

/** Close the editor; its text stays in the draft and comes back when the editor is opened again. */
export function closeCorrection() {
  showEditor(false);
  showOutcome("approve");
  document.getElementById("question").focus({ preventScroll: true });
  if (isEdited()) say("The editor is closed. Your text is kept and not sent; open it with Correct.");
}

/** Close the editor without its text, once that is confirmed. */
export function discardCorrection() {
  if (!isEdited()) {
    closeCorrection();
    return;
  }
  askDiscard(() => {
    const corrected = document.getElementById("corrected");
    corrected.value = corrected.defaultValue;
    showStale();
    showUnsent();
    keep();
    closeCorrection();
    say("Your edit is discarded; the answer is as the model wrote it.");
  });
}

function showDiff() {
  if (!isOpen()) return; // the request was decided while the diff waited
  const corrected = document.getElementById("corrected");
  document.getElementById("diff").replaceChildren(...differences(corrected.defaultValue, corrected.value));
  if (isEdited() && !isBlank() && item().dataset.second === undefined) showCorrection(item().dataset.review, corrected.value);
}

/** Show the changes once nothing was typed for a moment. */
export function showDiffSoon() {
  clearTimeout(diffTimer);
  diffTimer = setTimeout(showDiff, DIFF_WAIT_MS);
}

addEventListener("beforeunload", (event) => {
  if (isOpen() && isEdited()) event.preventDefault();
});
