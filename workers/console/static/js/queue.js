// The queue as a list: choose requests, preview an action on them, and take it.

import { complain, reasonOf, say, send } from "./common.js";

const bulk = document.getElementById("bulk");
const dialog = document.getElementById("bulk-preview");
const action = document.getElementById("bulk-action");
const boxes = [...document.querySelectorAll("[data-choose]")];
const chosen = () => boxes.filter((box) => box.checked).map((box) => box.dataset.choose);

function showChoice() {
  document.getElementById("chosen-count").textContent = `${chosen().length} chosen`;
  bulk.querySelector('[data-for="assign"]').hidden = action.value !== "assign";
  bulk.querySelector('[data-for="decision"]').hidden = !["approve", "reject"].includes(action.value);
}

function body(preview) {
  const decides = ["approve", "reject"].includes(action.value);
  return {
    action: action.value,
    review_ids: chosen(),
    assignee: action.value === "assign" ? document.getElementById("bulk-assignee").value : null,
    reason: decides ? reasonOf(document.getElementById("bulk-reason")) : null,
    preview,
  };
}

const words = () =>
  ({ assign: `assigned to ${document.getElementById("bulk-assignee").value}`, approve: "approved", reject: "rejected", escalate: "escalated" })[action.value];

async function preview(event) {
  event.preventDefault();
  if (!chosen().length) {
    complain({ status: 422, message: "Choose requests first." });
    return;
  }
  try {
    const outcomes = JSON.parse((await send("/api/reviews/bulk", body(true))).text);
    const refused = outcomes.filter((each) => !each.done);
    const count = outcomes.length - refused.length;
    document.getElementById("bulk-words").textContent = `${count} of ${outcomes.length} requests will be ${words()}.`;
    document.getElementById("bulk-refused").replaceChildren(
      ...refused.map((each) => {
        const line = document.createElement("li");
        const title = document.querySelector(`[data-row="${CSS.escape(each.review_id)}"] th`)?.textContent.trim() ?? each.review_id;
        line.textContent = `Not: ${title.slice(0, 80)} (${each.detail})`;
        return line;
      }),
    );
    document.getElementById("bulk-do").disabled = count === 0;
    dialog.showModal();
  } catch (error) {
    complain(error);
  }
}

async function act() {
  try {
    const outcomes = JSON.parse((await send("/api/reviews/bulk", body(false))).text);
    const done = outcomes.filter((each) => each.done).map((each) => each.review_id);
    dialog.close();
    say(`${done.length} of ${outcomes.length} ${words()}.`);
    for (const id of done) {
      const row = document.querySelector(`[data-row="${CSS.escape(id)}"]`);
      const box = row.querySelector("[data-choose]");
      [box.checked, box.disabled] = [false, action.value !== "assign"];
      row.querySelector("td:last-child").textContent = words();
      row.classList.toggle("done", action.value !== "assign");
    }
    showChoice();
  } catch (error) {
    dialog.close();
    complain(error);
  }
}

if (bulk) {
  bulk.addEventListener("submit", preview);
  action.addEventListener("change", showChoice);
  boxes.forEach((box) => box.addEventListener("change", showChoice));
  document.getElementById("choose-all").addEventListener("change", (event) => {
    for (const box of boxes) box.checked = event.target.checked && !box.disabled;
    showChoice();
  });
  document.getElementById("bulk-do").addEventListener("click", act);
  document.getElementById("bulk-cancel").addEventListener("click", () => dialog.close());
  showChoice();
}
