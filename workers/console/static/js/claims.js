// The claims of the request with their evidence, and the reviewer's own verdicts.

import { small } from "./common.js";
import { showPassages } from "./passages.js";
import { buttonOf, holder, isOpen } from "./review_item.js";

const OWN_WORDS = { supported: "supported", contradicted: "contradicted", unsupported: "unsupported", cannot_tell: "can't tell" };

const OWN_SIGNS = { supported: "✓", contradicted: "✗", unsupported: "?", cannot_tell: "–" };

let preselected = ""; // the claim that the page has selected, until the reviewer selects one

const claimsOf = () => [...holder.querySelectorAll("[data-claim-row]")];

/** Claims in doubt, the most doubtful first; those of one verdict in the order of the answer. */
const doubted = () => claimsOf().filter((claim) => claim.dataset.doubt).sort((one, other) => one.dataset.doubt - other.dataset.doubt);

const marksOf = (claim) => [...holder.querySelectorAll(`mark[data-claim="${CSS.escape(claim)}"]`)];

/**
 * Select a claim and bring it in sight with its passage. In a narrow window the verdict stands far below the answer: what was
 * chosen in the list of claims, or by a key, shows its verdict there, and anything else its mark in the answer.
 */
export function select(claim, { focus = false, inList = focus } = {}) {
  holder.dataset.selected = claim;
  if (claim !== preselected) preselected = "";
  document.getElementById("no-doubt").textContent = "";
  holder.querySelectorAll("mark[data-claim]").forEach((each) => each.classList.toggle("selected", each.dataset.claim === claim));
  const [mark] = marksOf(claim);
  claimsOf().forEach((row) => row.classList.toggle("selected-row", row.dataset.claimRow === claim));
  const row = holder.querySelector(".selected-row");
  const showsVerdict = small.matches && inList;
  if (focus) (showsVerdict ? row?.querySelector("[data-show]") : mark)?.focus({ preventScroll: true });
  holder.querySelectorAll(".chip").forEach((chip) => chip.setAttribute("aria-current", String(chip.dataset.show === claim)));
  holder.querySelector('.chip[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  const [passage] = showPassages(holder, claim);
  const pane = holder.querySelector(".contexts");
  if (passage) pane.scrollTop += passage.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
  if (!small.matches || focus) passage?.scrollIntoView({ block: "nearest" }); // a tap moves nothing else
  const excerpt = row?.dataset.evidence;
  document.getElementById("no-passage").textContent = passage ? "" : missingPassage(excerpt);
  (showsVerdict ? row : mark)?.scrollIntoView({ block: "nearest" }); // the bar of the decision counts as outside: see fitBar
}

const missingPassage = (excerpt) =>
  excerpt ? `The evidence of the selected claim is in a context that is not shown here: “${excerpt}”` : "No passage of the contexts was found for the selected claim.";

export function step(direction) {
  const claims = claimsOf();
  if (!claims.length) return;
  const index = claims.findIndex((claim) => claim.dataset.claimRow === holder.dataset.selected);
  select(claims[(index + direction + claims.length) % claims.length].dataset.claimRow, { focus: true });
}

/** Select the next claim in doubt that has no verdict of the reviewer; say so where there is no other. The one that the page has selected
 *  comes first: it would be passed over, and each verdict would be that of another claim. */
export function stepToDoubt() {
  const claims = doubted();
  const index = preselected ? -1 : claims.findIndex((claim) => claim.dataset.claimRow === holder.dataset.selected);
  preselected = "";
  const others = [...claims.slice(index + 1), ...claims.slice(0, Math.max(index, 0))];
  const next = others.find((claim) => !ownOf(claim));
  if (next) {
    select(next.dataset.claimRow, { focus: true });
    return;
  }
  const note = document.getElementById("no-doubt");
  if (!claims.length) note.textContent = "No claim is in doubt.";
  else note.textContent = isOpen() ? "No other claim in doubt is without a verdict of yours." : "No other claim is in doubt.";
  note.scrollIntoView({ block: "nearest" });
}

/** Say how many claims are in doubt, and how many of them the reviewer has not looked at yet. */
function countDoubts() {
  const [all, found] = [claimsOf().length, doubted()];
  const left = found.filter((claim) => !ownOf(claim)).length;
  const words = found.length ? `${found.length} of ${all} in doubt (all but ✓)` : `${all}, none in doubt (all ✓)`;
  if (all) document.getElementById("doubt-count").textContent = found.length && isOpen() ? `${words}, ${left} without a verdict of yours` : words;
}

export function judge(verdict) {
  const claim = holder.dataset.selected;
  if (!claim) return;
  const choice = [...holder.querySelectorAll(`[data-verdict="${CSS.escape(claim)}"]`)].find((each) => each.value === verdict);
  if (!choice || choice.disabled) return;
  choice.checked = true;
  // As a click does: the draft is kept, and what depends on verdicts follows.
  choice.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Show the reviewer's verdict beside each claim, its sign on the claim's button, and how many claims are left. */
export function showOwnVerdicts() {
  for (const words of holder.querySelectorAll("[data-own]")) {
    const claim = words.dataset.own;
    const chosen = [...holder.querySelectorAll(`[data-verdict="${CSS.escape(claim)}"]`)].find((each) => each.checked)?.value;
    words.textContent = chosen ? `you: ${OWN_WORDS[chosen]}` : "no verdict of yours";
    words.className = chosen ? `own-words verdict ${chosen}` : "own-words";
    holder.querySelector(`[data-own-sign="${CSS.escape(claim)}"]`).textContent = chosen ? ` · you: ${OWN_SIGNS[chosen]}` : "";
  }
  countDoubts();
}

const ownOf = (claim) => claim.querySelector("[data-verdict]:checked")?.value;

const numbersOf = (wanted) => claimsOf().flatMap((claim, index) => (wanted(claim) ? [index + 1] : []));

/** Numbers of the claims that the reviewer found contradicted. */
export const foundContradicted = () => numbersOf((claim) => ownOf(claim) === "contradicted");

/** Numbers of the claims that the evaluation found contradicted and that have no verdict of the reviewer. */
export const unjudged = () => numbersOf((claim) => !ownOf(claim) && claim.dataset.verdictOf === "contradicted");

/** Claims by their numbers, in words. */
export const claimWords = (numbers) => `${numbers.length === 1 ? "claim" : "claims"} ${numbers.join(", ")}`;

/** The reviewer's verdicts on claims, as they are sent. */
export const ownVerdicts = () =>
  [...holder.querySelectorAll("[data-verdict]:checked")].map((each) => ({ claim_id: each.dataset.verdict, verdict: each.value }));

/** Show the answer as the model wrote it, or rendered. */
export function toggleRaw() {
  const view = document.getElementById("answer-view");
  const other = document.getElementById("answer-raw");
  const shown = [...view.childNodes];
  view.replaceChildren(...other.content.childNodes);
  other.content.replaceChildren(...shown);
  const button = buttonOf("raw");
  button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
  if (holder.dataset.selected) select(holder.dataset.selected);
}

/** Select the claim that is most in doubt, else the first one. */
export function selectFirst() {
  const claims = claimsOf();
  preselected = (doubted()[0] ?? claims[0])?.dataset.claimRow ?? "";
  if (preselected) select(preselected);
}
