// The comparison of the text in the editor with the sources of the answer.

import { complain, parsed, send } from "./common.js";
import { isOpen, item } from "./review_item.js";

let compared = ""; // the text of the last comparison
let asked = 0; // comparisons that were asked for

/** Say that a comparison is of another text than the one in the editor. */
export function showStale() {
  const note = document.getElementById("comparison-stale");
  if (note) note.hidden = compared === document.getElementById("corrected").value;
}

/** Show what differs between the text in the editor and the sources; it decides nothing. */
export async function compareText() {
  const section = document.getElementById("comparison");
  if (!section || !isOpen()) return;
  const found = document.getElementById("comparison-found");
  const number = ++asked;
  compared = document.getElementById("corrected").value;
  section.hidden = false;
  showStale();
  found.textContent = "Comparing with the sources…";
  section.scrollIntoView({ block: "nearest" });
  try {
    const response = await send(`/review/${item().dataset.review}/comparison`, { corrected_answer: compared });
    if (number === asked) found.replaceChildren(...parsed(response.text));
  } catch (error) {
    if (number === asked) found.replaceChildren(failure(error));
    if (error.status === 401) complain(error);
  }
  section.scrollIntoView({ block: "nearest" });
}

/** Say why a text was not compared; it can be sent all the same. */
function failure(error) {
  const words = document.createElement("p");
  words.className = "warn";
  const cause = error.status ? error.message.replace(/\.$/, "") : "the console does not answer; try again in a moment";
  words.textContent = `Not compared: ${cause}. The correction can be sent without it.`;
  return words;
}
