// The claims of the request with their evidence, and the reviewer's own verdicts.

import { small } from "./common.js";
import { showPassages } from "./passages.js";
import { buttonOf, holder } from "./review_item.js";

const OWN_WORDS = { supported: "supported", contradicted: "contradicted", unsupported: "unsupported", cannot_tell: "can't tell" };

const OWN_SIGNS = { supported: "✓", contradicted: "✗", unsupported: "?", cannot_tell: "–" };

/** The first claim that is contradicted; without one, the first that is unsupported. */
const worstOf = (claims) => ["contradicted", "unsupported"].map((verdict) => claims.find((claim) => claim.dataset.verdictOf === verdict)).find(Boolean);

const claimsOf = () => [...holder.querySelectorAll("[data-claim-row]")];

const marksOf = (claim) => [...holder.querySelectorAll(`mark[data-claim="${CSS.escape(claim)}"]`)];

/**
 * Select a claim and bring it in sight with its passage. In a narrow window the verdict stands far below the answer: what was
 * chosen in the list of claims, or by a key, shows its verdict there, and anything else its mark in the answer.
 */
export function select(claim, { focus = false, inList = focus } = {}) {
  holder.dataset.selected = claim;
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

/** Select the next claim that the evaluation found contradicted, or unsupported where none is contradicted. */
export function stepToDoubt() {
  const claims = claimsOf();
  const doubtful = claims.filter((claim) => claim.dataset.verdictOf === worstOf(claims)?.dataset.verdictOf);
  const index = claims.findIndex((claim) => claim.dataset.claimRow === holder.dataset.selected);
  const next = doubtful.find((claim) => claims.indexOf(claim) > index) ?? doubtful[0];
  if (next) select(next.dataset.claimRow, { focus: true });
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

/** Show the reviewer's verdict beside each claim, and its sign on the claim's button. */
export function showOwnVerdicts() {
  for (const words of holder.querySelectorAll("[data-own]")) {
    const claim = words.dataset.own;
    const chosen = [...holder.querySelectorAll(`[data-verdict="${CSS.escape(claim)}"]`)].find((each) => each.checked)?.value;
    words.textContent = chosen ? `you: ${OWN_WORDS[chosen]}` : "no verdict of yours";
    words.className = chosen ? `own-words verdict ${chosen}` : "own-words";
    holder.querySelector(`[data-own-sign="${CSS.escape(claim)}"]`).textContent = chosen ? ` · you: ${OWN_SIGNS[chosen]}` : "";
  }
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

/** Select the claim that is most in doubt, else the first one; an answer without claims is brought in sight on a phone. */
export function selectFirst() {
  const claims = claimsOf();
  const first = worstOf(claims) ?? claims[0];
  if (first) select(first.dataset.claimRow);
  else if (small.matches) document.getElementById("item-answer").scrollIntoView();
}
