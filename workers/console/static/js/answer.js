// The answer: the source of a citation beside it, and votes.

import { complain, parsed, say, send } from "./common.js";
import { differences } from "./diff.js";
import { showPassages } from "./passages.js";

const panel = document.getElementById("panel");
const title = document.getElementById("panel-title");
const content = document.getElementById("panel-content");
let opener = null;

async function open(link) {
  const response = await fetch(`/citations/${encodeURIComponent(link.dataset.citation)}/panel`);
  if (!response.ok) {
    location.assign(link.href);
    return;
  }
  content.replaceChildren(...parsed(await response.text()));
  title.textContent = link.textContent.trim();
  opener = link;
  panel.hidden = false;
  title.focus();
  const claim = (link.closest("[data-claim]") ?? link.closest("[data-claim-row]"))?.dataset;
  const [passage] = showPassages(content, claim?.claim ?? claim?.claimRow);
  (passage ?? content.querySelector("[data-passages]"))?.scrollIntoView({ block: "nearest" });
}

function close() {
  panel.hidden = true;
  opener?.focus();
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
      await send(`/api/answers/${encodeURIComponent(button.dataset.answer)}/vote`, { vote: button.dataset.vote });
      document.querySelectorAll("button.vote").forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
      say("Thank you, your vote is noted.");
    } catch (error) {
      complain(error);
    }
  });
}


const correction = document.getElementById("correction-diff");
if (correction) correction.replaceChildren(...differences(correction.dataset.before, correction.dataset.after));

document.querySelector("#withdraw form")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const chosen = form.reason.value.trim();
  const known = [...document.querySelectorAll("#usual-reasons option")].find((option) => option.value === chosen);
  try {
    await send(`/api/reviews/${encodeURIComponent(form.dataset.review)}/withdrawal`, {
      reason: known?.dataset.code ?? chosen,
      comment: form.comment.value.trim() || null,
    });
    document.getElementById("withdraw").hidden = true;
    say("The answer is withdrawn. Readers get a notice in its place within seconds; load this page again to see it.");
  } catch (error) {
    complain(error);
  }
});
