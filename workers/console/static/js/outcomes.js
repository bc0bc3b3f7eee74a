// What readers get from each decision, shown before it is made.

import { parsed, send } from "./common.js";
import { differences } from "./diff.js";

const KEPT = "outcomes";
let asked = 0; // the last correction that was asked about

const outcomes = () => document.getElementById("outcomes");
const choices = () => [...document.querySelectorAll("[data-outcome]:not([hidden])")];

/** Prepare the outcomes of the request that is shown; they stay open or closed as for the request before. */
export function beginOutcomes() {
  const details = outcomes();
  if (!details) return;
  details.open = sessionStorage.getItem(KEPT) !== "closed";
  details.addEventListener("toggle", () => sessionStorage.setItem(KEPT, details.open ? "open" : "closed"));
  for (const button of choices()) button.addEventListener("click", () => showOutcome(button.dataset.outcome));
  const textOf = (name) => details.querySelector(`[data-content="${name}"]`).content.textContent;
  const answer = textOf("answer");
  for (const place of details.querySelectorAll("[data-changed]")) {
    const show = () => place.replaceChildren(...differences(answer, textOf(place.dataset.changed)));
    place.closest("details").addEventListener("toggle", show, { once: true });
  }
}

/** Show what corrections of a decided request changed. */
export function showGivenChanges() {
  for (const place of document.querySelectorAll("[data-given-changes]")) {
    const [before, after] = ["before", "after"].map((name) => place.querySelector(`[data-${name}]`).content.textContent);
    place.replaceChildren(...differences(before, after));
  }
}

/** Show what readers get from one decision. */
export function showOutcome(name) {
  for (const button of choices()) button.setAttribute("aria-pressed", String(button.dataset.outcome === name));
  for (const place of document.querySelectorAll("[data-outcome-of]")) place.hidden = place.dataset.outcomeOf !== name;
}

/** Show the next decision's outcome; open the outcomes first where they are closed. */
export function nextOutcome() {
  const details = outcomes();
  if (!details) return;
  if (details.open) {
    const names = choices().map((button) => button.dataset.outcome);
    const shown = choices().find((button) => button.getAttribute("aria-pressed") === "true").dataset.outcome;
    showOutcome(names[(names.indexOf(shown) + 1) % names.length]);
  }
  details.open = true;
  document.getElementById("outcome-shown").focus();
}

/** Show what readers would get from a correction: the console makes it as the release does. */
export async function showCorrection(review, text) {
  const place = document.getElementById("correction-outcome");
  const number = ++asked;
  try {
    const response = await send(`/review/${review}/outcome`, { user_action: "correct", corrected_answer: text });
    if (number === asked) place.replaceChildren(...parsed(response.text));
  } catch (error) {
    // The request was decided elsewhere, or the text is empty: the decision itself is refused with the same words.
    if (number === asked) place.textContent = error.status ? error.message : "";
  }
}
