// The answer: the source of a citation beside it, and votes.

import { complain, parsed, say, send } from "./common.js";
import { differences } from "./diff.js";
import { showPassages } from "./passages.js";

const panel = document.getElementById("panel");
const MARGIN = 16; // pixels around a passage in the panel
const title = document.getElementById("panel-title");
const content = document.getElementById("panel-content");
const BESIDE = "This source supports the claim as well. The evidence that stands with the claim is a passage of another source.";
const ELSEWHERE = "No passage of this source is the evidence of the claim.";
let opener = null;

/** The claim to which a citation belongs: the one around it, or the last one before it in the answer. */
function claimOf(link) {
  const own = (link.closest("[data-claim]") ?? link.closest("[data-claim-row]"))?.dataset;
  if (own) return own.claim ?? own.claimRow;
  const before = [...(link.closest(".answer-text")?.querySelectorAll("[data-claim]") ?? [])].filter(
    (mark) => mark.compareDocumentPosition(link) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  return before.at(-1)?.dataset.claim;
}

async function open(link) {
  const response = await fetch(`/citations/${encodeURIComponent(link.dataset.citation)}/panel`);
  if (!response.ok) {
    location.assign(link.href);
    return;
  }
  content.replaceChildren(...parsed(await response.text()));
  title.textContent = link.textContent.trim();
  opener = link;
  keepInPlace(link, () => (panel.hidden = false));
  title.focus({ preventScroll: true });
  panel.scrollTop = 0;
  const claim = claimOf(link);
  const [passage] = showPassages(content, claim);
  // The passage of another claim would be read as that of this one.
  const shown = claim ? passage : content.querySelector("[data-passages]");
  if (claim && !passage) content.prepend(...parsed(`<p class="small">${link.closest("[data-beside]") ? BESIDE : ELSEWHERE}</p>`));
  if (shown) showWithin(panel, shown);
}

function close() {
  keepInPlace(opener, () => (panel.hidden = true));
  opener.focus();
}

/** Scroll a frame, and nothing around it, until an element is in sight: its begin, if it is higher than the frame. */
function showWithin(frame, element) {
  const [outer, inner] = [frame, element].map((each) => each.getBoundingClientRect());
  frame.scrollTop += Math.min(inner.top - outer.top - MARGIN, Math.max(0, inner.bottom - outer.bottom + MARGIN));
}

/** Scroll the window so that an element stays where it is, although the panel beside it makes the text wrap otherwise. */
function keepInPlace(element, change) {
  const before = element.getBoundingClientRect().top;
  change();
  scrollBy({ top: element.getBoundingClientRect().top - before, behavior: "instant" });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-citation]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
    event.preventDefault();
    open(link);
  }
});
document.getElementById("panel-close").addEventListener("click", close);
panel.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
});

for (const button of document.querySelectorAll("button.vote")) {
  button.addEventListener("click", async () => {
    try {
      const { answer, tenant, vote } = button.dataset;
      await send(`/api/answers/${encodeURIComponent(answer)}/vote?tenant=${encodeURIComponent(tenant)}`, { vote });
      document.querySelectorAll("button.vote").forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
      say("Thank you, your vote is noted.");
    } catch (error) {
      complain(error);
    }
  });
}


const correction = document.getElementById("correction-diff");
if (correction) correction.replaceChildren(...differences(correction.dataset.before, correction.dataset.after));

const MOST_QUESTIONS = 30;

/** Load the page again once the answer is known to be withdrawn; ask every second, and give up after some questions. */
async function reloadOnce(address, left) {
  const response = await fetch(address).catch(() => null);
  if (response?.ok && (await response.json()).withdrawal) location.reload();
  else if (left) setTimeout(() => reloadOnce(address, left - 1), 1000);
}

document.querySelector("#withdraw form")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const address = `/api/answers/${encodeURIComponent(form.dataset.answer)}`;
  const chosen = form.reason.value.trim();
  const known = [...document.querySelectorAll("#usual-reasons option")].find((option) => option.value === chosen);
  try {
    await send(`${address}/withdrawal?tenant=${encodeURIComponent(form.dataset.tenant)}`, {
      reason: known?.dataset.code ?? chosen,
      comment: form.comment.value.trim() || null,
    });
    document.getElementById("withdraw").hidden = true;
    say("The answer is withdrawn. Readers get a notice in its place within seconds; this page shows it then.");
    reloadOnce(`${address}?tenant=${encodeURIComponent(form.dataset.tenant)}`, MOST_QUESTIONS);
  } catch (error) {
    complain(error);
  }
});
