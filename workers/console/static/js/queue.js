// The queue as a list: choose requests, preview an action on them, and take it.

import { complain, keepFilters, parsed, reasonOf, say, send } from "./common.js";
import { isShortcut } from "./shortcuts.js";
import { offerUndo, undo } from "./undo.js";
import { focusWhenOn, whileOff } from "./waiting.js";

let sending = false; // an action on the chosen requests is on its way

const bulk = document.getElementById("bulk");
const dialog = document.getElementById("bulk-preview");
const action = document.getElementById("bulk-action");
const boxes = [...document.querySelectorAll("[data-choose]")];
const KEPT = "queue-choice"; // what is chosen and typed in the list, kept in this tab
const FIELDS = ["bulk-action", "bulk-assignee", "bulk-reason"];
const chosen = () => boxes.filter((box) => box.checked).map((box) => box.dataset.choose);

/** Keep what is chosen and typed, by the address of the list. */
function keepChoice() {
  const fields = Object.fromEntries(FIELDS.map((name) => [name, document.getElementById(name).value]));
  sessionStorage.setItem(KEPT, JSON.stringify({ address: location.search, chosen: chosen(), fields }));
}

/** Choose and write what was kept of this list, as after a session that ended. */
function restoreChoice() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  if (kept?.address !== location.search) return;
  for (const box of boxes) box.checked = kept.chosen.includes(box.dataset.choose);
  for (const [name, value] of Object.entries(kept.fields)) {
    const field = document.getElementById(name);
    if (!field.options || [...field.options].some((option) => option.value === value)) field.value = value;
  }
}

function showChoice() {
  document.getElementById("chosen-count").textContent = `${chosen().length} chosen`;
  const free = boxes.filter((box) => !box.disabled);
  document.getElementById("choose-all").checked = free.length > 0 && free.every((box) => box.checked);
  bulk.querySelector('[data-for="person"]').hidden = !isForPerson();
  bulk.querySelector('[data-for="decision"]').hidden = isForPerson();
}

const isOpinion = () => action.value.endsWith("_opinion");
const isForPerson = () => action.value === "assign" || isOpinion();
const person = () => document.getElementById("bulk-assignee").value;

function body(preview) {
  return {
    action: action.value,
    review_ids: chosen(),
    assignee: action.value === "assign" ? person() : null,
    person: isOpinion() ? person() || null : null,
    reason: isForPerson() ? null : reasonOf(document.getElementById("bulk-reason")),
    preview,
  };
}

/** Why a request is refused, without the name of the field, which is for programs. */
const wordsOf = ({ detail, field }) => detail.replace(`${field}: `, "");

const VERBS = { assign: "Assign", approve: "Approve", reject: "Reject", escalate: "Escalate", ask_opinion: "Ask about", end_opinion: "Take back" };
const rowOf = (id) => document.querySelector(`[data-row="${CSS.escape(id)}"]`);

/** A request by its name, as a link to its whole text. It opens beside the list, which keeps its preview. */
function linkTo(id) {
  const link = document.createElement("a");
  link.href = rowOf(id).querySelector("th a").getAttribute("href");
  link.target = "_blank";
  link.title = "Opens in a new tab";
  link.textContent = rowOf(id).dataset.name;
  return link;
}

/** One line a request: its name, and what the list says about it, such as risk, score, escalation and a waiting reader. */
function taken({ review_id: id, shown, contradicted }) {
  const line = document.createElement("li");
  const notes = [...rowOf(id).querySelectorAll("[data-note]")].map((each) => each.textContent.replace(/\s+/g, " ").trim());
  line.append(linkTo(id), ...notes.filter(Boolean).map((each) => ` · ${each}`));
  for (const { number, text } of contradicted) {
    const words = document.createElement("strong");
    words.className = "warn";
    words.textContent = `contradicted: claim ${number}`;
    const claim = document.createElement("q");
    claim.dir = "auto";
    claim.textContent = text;
    line.append(" · ", words, " ", claim);
  }
  if (shown) {
    const text = document.createElement("q");
    text.dir = "auto";
    text.textContent = shown;
    line.append(" · readers get: ", text);
  }
  return line;
}

const words = () =>
  ({ assign: `assigned to ${person()}`, ask_opinion: `second opinion asked of ${person() || "anyone"}`, end_opinion: `second opinion of ${person() || "anyone"} no longer asked for`, approve: "approved", reject: "rejected", escalate: "escalated" })[action.value];

/** Ask for a reason where claims of requests to approve are contradicted, as the page of a single request does. */
function askForDoubts(number) {
  const field = document.getElementById("bulk-why");
  const asks = number > 0 && !reasonOf(document.getElementById("bulk-reason"));
  document.getElementById("bulk-doubts").hidden = !asks;
  field.required = asks;
  field.value = "";
  document.getElementById("bulk-doubt-words").textContent =
    `The evaluation found claims of ${number === 1 ? "one request" : `${number} requests`} contradicted: cancel to look at them, or give a reason.`;
}

async function preview(event) {
  event.preventDefault();
  if (!chosen().length) {
    complain({ status: 422, message: "Choose requests first." });
    return;
  }
  if (action.value === "escalate" && !body(true).reason) {
    complain({ status: 422, message: "Write a reason: say why others should decide." });
    document.getElementById("bulk-reason").focus();
    return;
  }
  try {
    const outcomes = JSON.parse((await send("/api/reviews/bulk", body(true))).text);
    const refused = outcomes.filter((each) => !each.done);
    const count = outcomes.length - refused.length;
    const of = `${count} of ${outcomes.length} requests`;
    document.getElementById("bulk-words").textContent = {
      ask_opinion: `A second opinion on ${of} will be asked of ${person() || "anyone who has not reviewed them"}.`,
      end_opinion: `The second opinion of ${person() || "anyone"} on ${of} will no longer be asked for.`,
    }[action.value] ?? `${of} will be ${words()}.`;
    document.getElementById("bulk-taken").replaceChildren(...outcomes.filter((each) => each.done).map(taken));
    document.getElementById("bulk-refused").replaceChildren(
      ...refused.map((each) => {
        const line = document.createElement("li");
        line.append("Not: ", linkTo(each.review_id), ` (${wordsOf(each)})`);
        return line;
      }),
    );
    askForDoubts(outcomes.filter((each) => each.done && each.contradicted.length).length);
    document.getElementById("bulk-do").textContent = `${VERBS[action.value]} ${count}`;
    document.getElementById("bulk-do").disabled = count === 0;
    dialog.showModal();
  } catch (error) {
    complain(error);
  }
}

/** The cell of a request with what was just done: of a decided one it keeps the decision. */
function cellAfter(nodes) {
  if (!isOpinion()) return [words()];
  const name = person();
  const kept = nodes.filter((each) => each.dataset?.asked !== name && each.dataset?.refused === undefined);
  if (action.value === "end_opinion") return kept;
  return [...kept, smallLine("asked", name, `asked of ${name || "anyone"} by ${bulk.dataset.name}`)];
}

function smallLine(kind, value, text) {
  const line = document.createElement("small");
  line.dataset[kind] = value;
  line.textContent = text;
  return line;
}

/** Say in the row of a request why nothing was done. */
function refuse(outcome) {
  const cell = rowOf(outcome.review_id).querySelector("td:last-child");
  const text = `not done: ${wordsOf(outcome)}`;
  cell.querySelector("[data-refused]")?.remove();
  if (isOpinion()) cell.append(smallLine("refused", "", text));
  else cell.textContent = text;
}

/** Show to whom requests are assigned, or of whom an opinion is asked; those that the filter no longer chooses leave the list.
 *  Returns what shows it as before. */
function givenTo(ids) {
  const wanted = bulk.dataset.assignee.toLowerCase();
  const leaves = action.value === "assign" && wanted !== "" && wanted !== person().toLowerCase();
  const before = ids.map((id) => [rowOf(id), [...rowOf(id).querySelector("td:last-child").childNodes]]);
  const total = document.querySelector("#queue-totals strong");
  const showRows = (nodesOf, gone) => {
    for (const [row, nodes] of before) {
      const box = row.querySelector("[data-choose]");
      [box.checked, box.disabled, row.hidden] = [false, gone, gone];
      row.querySelector("td:last-child").replaceChildren(...nodesOf(nodes));
    }
    if (leaves) total.textContent = String(Number(total.textContent) + (gone ? -before.length : before.length));
    document.getElementById("none-left").hidden = document.querySelector("[data-row]:not([hidden])") !== null;
    showChoice();
  };
  showRows(cellAfter, leaves);
  return () => {
    showRows((nodes) => nodes, false);
    focusWhenOn(before[0][0].querySelector("[data-choose]"));
  };
}

/** Show the totals of the list as they are now; what was just done counts. */
async function showTotals() {
  const shown = parsed((await send(location.pathname + location.search, undefined, { method: "GET", background: true })).text);
  const totals = [...shown].map((node) => node.querySelector?.("#queue-totals")).find(Boolean);
  document.getElementById("queue-totals").replaceChildren(...totals.childNodes);
}

async function act() {
  const why = document.getElementById("bulk-why");
  if (!why.reportValidity()) return;
  if (why.required) document.getElementById("bulk-reason").value = why.value;
  dialog.close();
  keepChoice();
  sending = true;
  await whileOff(`Being sent: ${document.getElementById("bulk-words").textContent}`, sendChosen);
  sending = false;
}

async function sendChosen() {
  try {
    const response = await send("/api/reviews/bulk", body(false));
    const outcomes = JSON.parse(response.text);
    const acted = outcomes.filter((each) => each.done);
    const done = acted.map((each) => each.review_id);
    const count = `${done.length} of ${outcomes.length}`;
    // The first one was decided before the last one, and all are undone together.
    const run = isForPerson() && done.length ? givenTo(done) : undefined;
    const [until] = acted.map((each) => each.undo_until).filter(Boolean).sort();
    if (until) {
      offerUndo({ reviews: done, question: `${count} requests`, words: words(), until, at: response.at, run });
    } else say(`${count} ${words()}.`);
    outcomes.filter((each) => !each.done).forEach(refuse);
    for (const id of isForPerson() ? [] : done) {
      const row = rowOf(id);
      const box = row.querySelector("[data-choose]");
      [box.checked, box.disabled] = [false, true];
      row.querySelector("td:last-child").textContent = words();
      row.classList.add("done");
      const waits = row.querySelector("[data-waits]");
      if (waits && action.value !== "escalate") waits.textContent = "–";
    }
    document.getElementById("bulk-reason").value = "";
    showChoice();
    keepChoice();
    if (!isForPerson()) showTotals().catch(() => {}); // they follow with the next page
  } catch (error) {
    complain(error);
  }
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "u" || event.repeat || !isShortcut(event)) return;
  event.preventDefault();
  if (!sending) undo();
});

keepFilters(document.querySelector(".review-head a.button").search);
if (bulk) {
  restoreChoice();
  for (const name of ["input", "change"]) document.getElementById("main").addEventListener(name, keepChoice);
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
