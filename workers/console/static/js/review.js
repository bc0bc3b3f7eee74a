// The review queue: one request after the other, on keys, with the next one loaded ahead.

/* global Diff */

import { parsed, say, send } from "./common.js";

const holder = document.getElementById("review-item");
const help = document.getElementById("help");
const keysOn = document.getElementById("keys-on");
const filters = document.getElementById("queue-filters");
const openCount = document.getElementById("open-count");

const IDLE_MS = 60_000;
const VERDICT_KEYS = { 1: "supported", 2: "contradicted", 3: "unsupported", 4: "cannot_tell" };
const DIFF_MAX = 2_000;
const DIFF_WAIT_MS = 150;

let ahead = null; // a promise of the nodes of the next request
let taken = []; // identifiers that this page holds
let done = []; // identifiers decided or left here: the rows of the queue are a moment behind
let last = null; // the last decision, for undo
let busy = false;
let diffTimer = 0;

// ---------------------------------------------------------------- loading

const item = () => holder.querySelector("[data-review]");

function wanted() {
  const entries = [...new FormData(filters)].filter(([, value]) => value !== "");
  return { ...Object.fromEntries(entries), without: [...taken, ...done].slice(-500) };
}

/** The next request as nodes, or null where there is none. */
async function fetchNext() {
  const response = await send("/review/next", wanted());
  if (response.status === 204) return null;
  const nodes = [...parsed(response.text)];
  const article = nodes.find((node) => node.dataset?.review);
  if (article) taken.push(article.dataset.review);
  return nodes;
}

function loadAhead() {
  ahead = fetchNext();
  ahead.catch(() => {});
}

async function showNext() {
  const promise = ahead ?? fetchNext();
  ahead = null;
  let nodes = null;
  try {
    nodes = await promise;
    // What was loaded ahead may have found nothing when there was nothing yet.
    nodes ??= await fetchNext();
  } catch (error) {
    say(error.message);
  }
  if (!nodes) {
    const empty = document.createElement("p");
    empty.id = "queue-empty";
    empty.tabIndex = -1;
    empty.textContent = "Nothing waits for review.";
    holder.replaceChildren(empty);
    empty.focus();
    return;
  }
  holder.replaceChildren(...nodes);
  begin();
  loadAhead();
}

function begin() {
  active.reset();
  document.getElementById("question")?.focus({ preventScroll: true });
  scrollTo(0, 0);
  const claims = claimsOf();
  const worst = claims.find((claim) => claim.classList.contains("contradicted")) ?? claims.find((claim) => claim.classList.contains("unsupported"));
  if (worst) select(worst.dataset.claim, false);
}

// ---------------------------------------------------------------- active time

const active = {
  seconds: 0,
  since: 0,
  seen: 0,
  reset() {
    this.seconds = 0;
    this.since = this.seen = performance.now();
  },
  /** Count the time up to now, but no more than a minute behind the last sign of life. */
  count() {
    const now = performance.now();
    if (document.visibilityState === "visible") this.seconds += Math.max(0, Math.min(now, this.seen + IDLE_MS) - this.since) / 1000;
    this.since = now;
  },
  touch() {
    this.count();
    this.seen = performance.now();
  },
};
for (const name of ["keydown", "pointermove", "pointerdown", "wheel", "scroll"]) {
  document.addEventListener(name, () => active.touch(), { passive: true, capture: true });
}
document.addEventListener("visibilitychange", () => {
  // While hidden nothing counts: what came before is counted, what follows begins anew.
  if (document.visibilityState === "hidden") {
    active.seconds += Math.max(0, Math.min(performance.now(), active.seen + IDLE_MS) - active.since) / 1000;
  }
  active.since = performance.now();
});

// ---------------------------------------------------------------- claims and evidence

const claimsOf = () => {
  const seen = new Set();
  return [...holder.querySelectorAll("mark[data-claim]")].filter((mark) => !seen.has(mark.dataset.claim) && seen.add(mark.dataset.claim));
};

function select(claim, focus = true) {
  holder.querySelectorAll(".selected").forEach((each) => each.classList.remove("selected"));
  const mark = holder.querySelector(`mark[data-claim="${CSS.escape(claim)}"]`);
  const passage = holder.querySelector(`[data-passage="${CSS.escape(claim)}"]`);
  holder.querySelectorAll(`mark[data-claim="${CSS.escape(claim)}"]`).forEach((each) => each.classList.add("selected"));
  holder.dataset.selected = claim;
  if (focus) mark?.focus({ preventScroll: true });
  if (passage) {
    passage.classList.add("selected");
    const pane = passage.closest(".contexts");
    pane.scrollTop += passage.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
  }
}

function step(direction) {
  const claims = claimsOf();
  if (!claims.length) return;
  const index = claims.findIndex((claim) => claim.dataset.claim === holder.dataset.selected);
  const next = claims[(index + direction + claims.length) % claims.length];
  select(next.dataset.claim);
  next.scrollIntoView({ block: "nearest" });
}

function judge(verdict) {
  const claim = holder.dataset.selected;
  if (!claim) return;
  const choice = [...holder.querySelectorAll(`[data-verdict="${CSS.escape(claim)}"]`)].find((each) => each.value === verdict);
  if (choice) {
    choice.checked = true;
    say(`Claim: ${verdict.replace("_", " ")}.`);
  }
}

// ---------------------------------------------------------------- deciding

async function decide(action) {
  const article = item();
  if (!article || busy) return;
  const review = article.dataset.review;
  const corrected = document.getElementById("corrected");
  if (action === "correct" && corrected.closest("#correction").hidden) {
    corrected.closest("#correction").hidden = false;
    corrected.focus();
    showDiff();
    return;
  }
  active.count();
  const body = {
    user_action: action === "warn" ? "approve" : action,
    with_warning: action === "warn",
    user_comment: document.getElementById("comment").value || null,
    corrected_answer: action === "correct" ? corrected.value : null,
    review_duration: active.seconds,
    claim_verdicts: [...article.querySelectorAll("[data-verdict]:checked")].map((each) => ({
      claim_id: each.dataset.verdict,
      verdict: each.value,
    })),
    version: Number(article.dataset.version),
  };
  await leave(review, () => send(`/api/reviews/${review}/decision`, body), action === "warn" ? "approved with a warning" : `${action}${action.endsWith("e") ? "d" : "ed"}`, true);
}

/** Do something that ends the work on a request, then show the next one. */
async function leave(review, act, words, undoable = false) {
  busy = true;
  try {
    const response = await act();
    done.push(review);
    taken = taken.filter((each) => each !== review);
    openCount.textContent = String(Math.max(0, Number(openCount.textContent) - 1));
    const receipt = undoable ? JSON.parse(response.text) : {};
    last = receipt.undo_until ? review : null;
    await showNext();
    say(`${words}.`, last ? { name: "Undo (u)", run: undo } : undefined);
  } catch (error) {
    if (error.status === 409 || error.status === 404) {
      done.push(review);
      taken = taken.filter((each) => each !== review);
      await showNext();
    }
    say(error.message);
  } finally {
    busy = false;
  }
}

async function undo() {
  if (!last) {
    say("There is nothing to undo.");
    return;
  }
  const review = last;
  try {
    await send(`/api/reviews/${review}/undo`);
    last = null;
    done = done.filter((each) => each !== review);
    say("Undone.");
    location.assign(`/review/${review}`);
  } catch (error) {
    last = null;
    say(error.message);
  }
}

const ACTIONS = {
  approve: () => decide("approve"),
  warn: () => decide("warn"),
  correct: () => decide("correct"),
  reject: () => decide("reject"),
  skip: () => item() && leave(item().dataset.review, () => send(`/api/reviews/${item().dataset.review}/skip`), "skipped"),
  escalate: () => item() && leave(item().dataset.review, () => send(`/api/reviews/${item().dataset.review}/escalate`, {}), "escalated"),
};

// ---------------------------------------------------------------- correction with its diff

function showDiff() {
  const corrected = document.getElementById("corrected");
  const parts = Diff.diffWordsWithSpace(corrected.defaultValue, corrected.value, { maxEditLength: DIFF_MAX });
  const nodes = (parts ?? [{ removed: true, value: corrected.defaultValue }, { added: true, value: corrected.value }]).map((part) => {
    if (!part.added && !part.removed) return document.createTextNode(part.value);
    const node = document.createElement(part.added ? "ins" : "del");
    node.textContent = part.value;
    return node;
  });
  document.getElementById("diff").replaceChildren(...nodes);
}

holder.addEventListener("input", (event) => {
  if (event.target.id === "corrected") {
    clearTimeout(diffTimer);
    diffTimer = setTimeout(showDiff, DIFF_WAIT_MS);
  }
});

// ---------------------------------------------------------------- keys and clicks

const KEYS = {
  a: ACTIONS.approve,
  w: ACTIONS.warn,
  c: ACTIONS.correct,
  r: ACTIONS.reject,
  s: ACTIONS.skip,
  e: ACTIONS.escalate,
  u: undo,
  j: () => step(1),
  k: () => step(-1),
  m: () => document.getElementById("comment")?.focus(),
  "?": () => help.showModal(),
};

document.addEventListener("keydown", (event) => {
  const field = event.target.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.id === "corrected") {
    event.preventDefault();
    decide("correct");
    return;
  }
  if (event.key === "Escape" && field) {
    field.blur();
    document.getElementById("question")?.focus({ preventScroll: true });
    return;
  }
  if (field || help.open || event.ctrlKey || event.metaKey || event.altKey || !keysOn.checked) return;
  const run = KEYS[event.key] ?? (VERDICT_KEYS[event.key] && (() => judge(VERDICT_KEYS[event.key])));
  if (run) {
    event.preventDefault();
    run();
  }
});

holder.addEventListener("click", (event) => {
  const action = event.target.closest("[data-action]")?.dataset.action;
  if (action) ACTIONS[action]();
  const shown = event.target.closest("[data-show]")?.dataset.show ?? event.target.closest("mark[data-claim]")?.dataset.claim;
  if (shown) select(shown, false);
});
document.getElementById("help-open").addEventListener("click", () => help.showModal());
document.getElementById("help-close").addEventListener("click", () => help.close());
keysOn.checked = localStorage.getItem("review-keys") !== "off";
keysOn.addEventListener("change", () => localStorage.setItem("review-keys", keysOn.checked ? "on" : "off"));

/** Give back what nobody looks at any more, also when the page is left. */
function giveBack(reviews) {
  for (const review of reviews) send(`/api/reviews/${review}/unlock`, undefined, { keepalive: true }).catch(() => {});
}

filters.addEventListener("submit", async (event) => {
  event.preventDefault();
  await ahead?.catch(() => {});
  const held = taken;
  [ahead, taken] = [null, []];
  giveBack(held);
  await showNext();
});
addEventListener("pagehide", () => giveBack(taken));

if (item()) {
  taken.push(item().dataset.review);
  send(`/api/reviews/${item().dataset.review}/lock`).catch((error) => say(error.message));
  begin();
  loadAhead();
} else {
  showNext();
}
