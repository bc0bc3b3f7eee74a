// The review queue: one request after the other, on keys, with the next one loaded ahead.

import { complain, parsed, reasonOf, say, send } from "./common.js";
import { differences } from "./diff.js";
import { draftOf, keepDraft, writeDraft } from "./drafts.js";
import { beginOutcomes, nextOutcome, showCorrection, showOutcome } from "./outcomes.js";
import { showPassages } from "./passages.js";
import { showAddress, reviewOfAddress } from "./review_address.js";
import { addressOf } from "./saved_filters.js";
import { noteVote, offerUndo, questionOf, undo } from "./undo.js";

const holder = document.getElementById("review-item");
const help = document.getElementById("help");
const unsent = document.getElementById("unsent");
const keysOn = document.getElementById("keys-on");
const filters = document.getElementById("queue-filters");
const ownCount = document.getElementById("own-count");
const openCount = document.getElementById("open-count");
const heldCount = document.getElementById("held-count");

const IDLE_MS = 60_000;
const VERDICT_KEYS = { 1: "supported", 2: "contradicted", 3: "unsupported", 4: "cannot_tell" };
const OWN_WORDS = { supported: "supported", contradicted: "contradicted", unsupported: "unsupported", cannot_tell: "can't tell" };
const OWN_SIGNS = { supported: "✓", contradicted: "✗", unsupported: "?", cannot_tell: "–" };
const small = matchMedia("(max-width: 56rem)");
const DIFF_WAIT_MS = 150;
const UNDO_MS = Number(holder.dataset.undoSeconds) * 1000;
const LOOK_AGAIN_MS = 15_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
// A third of a lock's time: what was loaded ahead may have half of its time behind it when it is shown.
const RENEW_MS = Math.min((Number(holder.dataset.lockSeconds) * 1000) / 3, LONGEST_TIMER_MS);

let ahead = null; // the next request: a promise of its nodes, and when it was taken
let showing = Promise.resolve(); // settled when the last request that was asked for is shown
let taken = []; // identifiers that this page holds
let done = []; // identifiers decided or left here: the rows of the queue are a moment behind
let filtered = location.search; // the filters of what is shown
let busy = false;
let renewed = 0; // when the lock of what is shown was taken or renewed
let diffTimer = 0;

// ---------------------------------------------------------------- loading

const item = () => holder.querySelector("[data-review]");

/** Whether the request that is shown waits for a decision: a decided one is only shown. */
const isOpen = () => item() !== null && item().dataset.closed === undefined;

function wanted() {
  const entries = [...new FormData(filters)].filter(([, value]) => value !== "");
  return { ...Object.fromEntries(entries), without: [...taken, ...done].slice(-500) };
}

/** The next request as nodes, or null where there is none. */
async function fetchNext(isAhead = false) {
  const response = await send("/review/next", { ...wanted(), ahead: isAhead });
  if (response.status === 204) return null;
  const nodes = [...parsed(response.text)];
  const article = nodes.find((node) => node.dataset?.review);
  if (article) taken.push(article.dataset.review);
  return nodes;
}

function loadAhead() {
  ahead = { nodes: fetchNext(true), at: performance.now() };
  ahead.nodes.catch(() => {});
}

/** The nodes of the next request, or null where there is none; what fails is asked for once more. */
async function nextRequest() {
  const loaded = ahead;
  ahead = null;
  try {
    const nodes = await loaded?.nodes;
    if (nodes && (await isStillOurs(nodes, loaded.at))) {
      // What is loaded ahead counts as looked at from now on.
      const review = nodes.find((node) => node.dataset?.review)?.dataset.review;
      send(`/review/${review}/shown`).catch(complain);
      return nodes;
    }
    // What was loaded ahead may have found nothing when there was nothing yet.
    return await fetchNext();
  } catch {
    return await fetchNext();
  }
}

/** Whether a request that was taken some time ago can be shown; another may have it by now. */
async function isStillOurs(nodes, at) {
  renewed = at;
  const review = nodes.find((node) => node.dataset?.review)?.dataset.review;
  if (performance.now() - at < RENEW_MS) return true;
  try {
    await renew(review);
    return true;
  } catch (error) {
    if (error.status !== 409 && error.status !== 404) throw error;
    forget(review, error.problem.conflict);
    return false;
  }
}

/** Show the next request, one caller after the other; with its keys in reach unless somebody types elsewhere. */
function showNext() {
  showing = showing.then(async () => {
    try {
      const nodes = await nextRequest();
      if (nodes) show(nodes);
      else showEmpty();
    } catch (error) {
      showAway(error);
    }
  });
  return showing;
}

/** Show one request by its identifier, as it is now, also one that is decided. */
function openReview(review) {
  showing = showing.then(async () => {
    try {
      const response = await send(`/review/${encodeURIComponent(review)}/item`, undefined, { method: "GET" });
      const left = isOpen() ? item().dataset.review : review;
      if (left !== review) {
        taken = taken.filter((each) => each !== left);
        giveBack([left]);
      }
      holder.replaceChildren(...parsed(response.text));
      showAddress(review);
      begin();
      if (!isOpen()) return;
      taken.push(review);
      await renew(review);
    } catch (error) {
      complain(error);
    }
  });
  return showing;
}

// Back and forward show the request of the address; what was typed is kept in its draft.
addEventListener("popstate", () => {
  if (location.search !== filtered) location.reload();
  else if (reviewOfAddress()) openReview(reviewOfAddress());
  else showNext();
});

function show(nodes) {
  const focus = !holder.querySelector("#queue-empty") || !document.activeElement?.matches("input, select, textarea");
  holder.replaceChildren(...nodes);
  showAddress(item().dataset.review);
  begin(focus);
  loadAhead();
}

function showEmpty() {
  if (document.getElementById("queue-empty")) return;
  const empty = document.createElement("p");
  empty.id = "queue-empty";
  empty.tabIndex = -1;
  empty.textContent = "Nothing waits for review.";
  holder.replaceChildren(empty);
  showAddress("");
  empty.focus();
}

/** An outage is not an empty queue. */
function showAway(error) {
  const words = document.createElement("p");
  words.id = "queue-away";
  words.className = "warn";
  words.textContent = `The next request could not be loaded: ${error.status ? error.message : "the console does not answer"}.`;
  const again = document.createElement("button");
  again.type = "button";
  again.textContent = "Try again";
  again.setAttribute("aria-describedby", words.id);
  again.addEventListener("click", showNext);
  holder.replaceChildren(words, again);
  again.focus();
}

setInterval(async () => {
  if (document.visibilityState !== "visible" || busy || !document.getElementById("queue-empty")) return;
  await showNext();
  if (item()) say("A request waits for review.");
}, LOOK_AGAIN_MS);

function begin(focus = true) {
  active.reset();
  beginOutcomes();
  const draft = draftOf(item().dataset.review);
  if (draft && isOpen()) {
    writeDraft(holder, draft);
    if (isEdited()) openCorrection(false);
  }
  if (focus) {
    document.getElementById("question")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  foldMore();
  const guidelines = document.getElementById("guidelines");
  if (guidelines) {
    guidelines.open = sessionStorage.getItem("guidelines") === "open";
    guidelines.addEventListener("toggle", () => {
      sessionStorage.setItem("guidelines", guidelines.open ? "open" : "closed");
      if (holder.dataset.selected) select(holder.dataset.selected, false); // the passage has moved
    });
  }
  showOwnVerdicts();
  barSize.disconnect();
  const bar = holder.querySelector(".decide");
  if (bar) barSize.observe(bar);
  fitBar();
  const claims = claimsOf();
  const first = worstOf(claims) ?? claims[0];
  if (first) select(first.dataset.claimRow, false);
}

// ---------------------------------------------------------------- locks

async function renew(review) {
  await send(`/api/reviews/${review}/lock`);
  renewed = performance.now();
}

/** Keep what somebody looks at; what nobody looks at goes to others in time. */
function renewShown() {
  if (isOpen() && !busy && document.visibilityState === "visible") renew(item().dataset.review).catch(complain);
}
setInterval(renewShown, RENEW_MS);
document.addEventListener("visibilitychange", () => {
  if (performance.now() - renewed >= RENEW_MS) renewShown();
});

/** What was decided or left here, or is another's, who may give it back. */
function forget(review, conflict) {
  if (conflict !== "locked") done.push(review);
  taken = taken.filter((each) => each !== review);
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

/** The first claim that is contradicted; without one, the first that is unsupported. */
const worstOf = (claims) => ["contradicted", "unsupported"].map((verdict) => claims.find((claim) => claim.dataset.verdictOf === verdict)).find(Boolean);
const claimsOf = () => [...holder.querySelectorAll("[data-claim-row]")];
const marksOf = (claim) => [...holder.querySelectorAll(`mark[data-claim="${CSS.escape(claim)}"]`)];

function select(claim, focus = true) {
  holder.dataset.selected = claim;
  holder.querySelectorAll("mark[data-claim]").forEach((each) => each.classList.toggle("selected", each.dataset.claim === claim));
  const [mark] = marksOf(claim);
  if (focus) mark?.focus({ preventScroll: true });
  claimsOf().forEach((row) => row.classList.toggle("selected-row", row.dataset.claimRow === claim));
  holder.querySelectorAll(".chip").forEach((chip) => chip.setAttribute("aria-current", String(chip.dataset.show === claim)));
  holder.querySelector('.chip[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  const [passage] = showPassages(holder, claim);
  const pane = holder.querySelector(".contexts");
  if (passage) pane.scrollTop += passage.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
  if (!small.matches) passage?.scrollIntoView({ block: "nearest" }); // on a phone the answer stays in sight
  const excerpt = holder.querySelector(`[data-claim-row="${CSS.escape(claim)}"]`)?.dataset.evidence;
  document.getElementById("no-passage").textContent = passage ? "" : missingPassage(excerpt);
  mark?.scrollIntoView({ block: "nearest" }); // the bar of the decision counts as outside: see fitBar
}

const missingPassage = (excerpt) =>
  excerpt ? `The evidence of the selected claim is in a context that is not shown here: “${excerpt}”` : "No passage of the contexts was found for the selected claim.";

function step(direction) {
  const claims = claimsOf();
  if (!claims.length) return;
  const index = claims.findIndex((claim) => claim.dataset.claimRow === holder.dataset.selected);
  select(claims[(index + direction + claims.length) % claims.length].dataset.claimRow);
}

/** Select the next claim that the evaluation found contradicted, or unsupported where none is contradicted. */
function stepToDoubt() {
  const claims = claimsOf();
  const doubtful = claims.filter((claim) => claim.dataset.verdictOf === worstOf(claims)?.dataset.verdictOf);
  const index = claims.findIndex((claim) => claim.dataset.claimRow === holder.dataset.selected);
  const next = doubtful.find((claim) => claims.indexOf(claim) > index) ?? doubtful[0];
  if (next) select(next.dataset.claimRow);
}

function judge(verdict) {
  const claim = holder.dataset.selected;
  if (!claim) return;
  const choice = [...holder.querySelectorAll(`[data-verdict="${CSS.escape(claim)}"]`)].find((each) => each.value === verdict);
  if (!choice) return;
  choice.checked = true;
  showOwnVerdicts();
  keepDraft(holder, item().dataset.review);
}

/** Show the reviewer's verdict beside each claim, and its sign on the claim's button. */
function showOwnVerdicts() {
  for (const words of holder.querySelectorAll("[data-own]")) {
    const claim = words.dataset.own;
    const chosen = [...holder.querySelectorAll(`[data-verdict="${CSS.escape(claim)}"]`)].find((each) => each.checked)?.value;
    words.textContent = chosen ? `you: ${OWN_WORDS[chosen]}` : "no verdict of yours";
    words.className = chosen ? `own-words verdict ${chosen}` : "own-words";
    holder.querySelector(`[data-own-sign="${CSS.escape(claim)}"]`).textContent = chosen ? ` · you: ${OWN_SIGNS[chosen]}` : "";
  }
}

/** Show the answer as the model wrote it, or rendered. */
function toggleRaw() {
  const view = document.getElementById("answer-view");
  const other = document.getElementById("answer-raw");
  const shown = [...view.childNodes];
  view.replaceChildren(...other.content.childNodes);
  other.content.replaceChildren(...shown);
  const button = buttonOf("raw");
  button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
  if (holder.dataset.selected) select(holder.dataset.selected, false);
}

/** Open or close the guidelines; they stay as they are for the next request. */
function toggleGuidelines() {
  const guidelines = document.getElementById("guidelines");
  if (!guidelines) return;
  guidelines.open = !guidelines.open;
  guidelines.scrollIntoView({ block: "nearest" });
}

/** Fold in the less used fields of the bar on a phone. */
function foldMore() {
  const more = document.getElementById("more");
  if (more) more.open = !small.matches;
}
small.addEventListener("change", foldMore);

/** Tell the page how high the bar of the decision is, so that nothing is scrolled behind it. */
function fitBar() {
  const bar = holder.querySelector(".decide");
  document.documentElement.style.setProperty("--bar", `${bar ? bar.offsetHeight : 0}px`);
}
const barSize = new ResizeObserver(fitBar);

// ---------------------------------------------------------------- deciding

const said = () => ({
  user_comment: document.getElementById("comment").value || null,
  reason: reasonOf(document.getElementById("decision-reason")),
});

/** A vote is feedback and decides nothing: the request stays. */
async function vote(action) {
  if (busy) return;
  busy = true;
  const article = item();
  try {
    await send(`/api/reviews/${article.dataset.review}/decision`, { ...said(), user_action: action });
    for (const name of ["upvote", "downvote"]) buttonOf(name).setAttribute("aria-pressed", String(name === action));
    noteVote();
    say(`${action}d. The request still waits for its decision.`);
  } catch (error) {
    complain(error);
  } finally {
    busy = false;
  }
}

async function decide(action) {
  const article = item();
  if (!isOpen() || busy) return;
  const review = article.dataset.review;
  const corrected = document.getElementById("corrected");
  if (action === "correct" && !correctionOpen()) {
    openCorrection();
    return;
  }
  if (action === "correct" && !isEdited()) {
    complain({ status: 422, message: "The text is unchanged. Edit it, or approve the answer." });
    return;
  }
  if (action !== "correct" && isEdited() && !(await discards(action))) return;
  active.count();
  keepDraft(holder, review, action === "correct");
  const body = {
    ...said(),
    user_action: action === "warn" ? "approve" : action,
    with_warning: action === "warn",
    corrected_answer: action === "correct" ? corrected.value : null,
    review_duration: active.seconds,
    claim_verdicts: [...article.querySelectorAll("[data-verdict]:checked")].map((each) => ({
      claim_id: each.dataset.verdict,
      verdict: each.value,
    })),
    version: Number(article.dataset.version),
  };
  const words = action === "warn" ? "approved with a warning" : `${action}${action.endsWith("e") ? "d" : "ed"}`;
  await leave(review, () => send(`/api/reviews/${review}/decision`, body), words, { decides: true, correcting: action === "correct" });
}

/** Count a decision at the head of the page, or take it back; what was skipped or escalated stays open. */
function count({ second, held }, number = 1) {
  const add = (shown, more) => (shown.textContent = String(Math.max(0, Number(shown.textContent) + more)));
  add(ownCount, number);
  if (second === undefined) add(openCount, -number);
  if (held !== undefined) add(heldCount, -number);
}

/** Do something that ends the work on a request, then show the next one. */
async function leave(review, act, words, { decides = false, correcting = false } = {}) {
  if (busy) return;
  busy = true;
  const article = item();
  try {
    const response = await act();
    forget(review);
    if (decides) count(article.dataset);
    const receipt = response.text ? JSON.parse(response.text) : {};
    await showNext();
    const run = () => {
      done = done.filter((each) => each !== review);
      if (decides) count(article.dataset, -1);
      return openReview(review);
    };
    // What was skipped or escalated can be undone for as long as a decision.
    const until = decides ? receipt.undo_until : UNDO_MS && new Date((response.at || Date.now()) + UNDO_MS).toISOString();
    offerUndo({ reviews: [review], question: questionOf(article), words, until, at: response.at, run });
  } catch (error) {
    await refused(review, error, correcting);
  } finally {
    busy = false;
  }
}

/** Go on after a refusal: look at what has changed, keep a correction that was typed, else leave it to who was faster. */
async function refused(review, error, correcting) {
  if (error.problem?.conflict === "changed") {
    await reload(review);
    return;
  }
  const gone = error.status === 409 || error.status === 404;
  if (gone && correcting) {
    complain({ status: error.status, message: `${error.message}. Nothing was sent; your correction is still here.` });
    return;
  }
  if (gone) {
    forget(review, error.problem.conflict);
    await showNext();
  }
  complain(error);
}

const correctionOpen = () => document.getElementById("correction")?.hidden === false;

/** Whether a correction was typed that differs from the answer. */
const isEdited = () => {
  const corrected = document.getElementById("corrected");
  return corrected !== null && corrected.value.trim() !== corrected.defaultValue.trim();
};

let questions = 0;

/** Ask what to do with a correction that was typed when another decision is taken; true to discard it. */
async function discards(action) {
  document.getElementById("unsent-discard").textContent = `Discard it and ${action === "warn" ? "approve with a warning" : action}`;
  const question = ++questions;
  unsent.returnValue = "";
  unsent.showModal();
  await new Promise((resolve) => {
    unsent.addEventListener("close", function closed() {
      // The event of a dialog that was closed comes late: the next question may stand there already.
      if (question === questions && unsent.open) return;
      unsent.removeEventListener("close", closed);
      resolve();
    });
  });
  if (question !== questions) return false;
  if (unsent.returnValue === "send") {
    openCorrection(false);
    decide("correct");
  }
  return unsent.returnValue === "discard";
}

/** Show a request as it is now, with what was typed. */
async function reload(review) {
  const correcting = correctionOpen();
  keepDraft(holder, review);
  try {
    const response = await send(`/review/${review}/item`, undefined, { method: "GET" });
    holder.replaceChildren(...parsed(response.text));
  } catch (error) {
    complain(error);
    return;
  }
  begin();
  if (correcting) openCorrection();
  say("A more complete result has replaced this request. Nothing was sent: look again and decide.");
}

const ACTIONS = {
  approve: () => decide("approve"),
  warn: () => decide("warn"),
  correct: () => decide("correct"),
  reject: () => decide("reject"),
  skip: () => leave(item().dataset.review, () => send(`/api/reviews/${item().dataset.review}/skip`), "skipped"),
  escalate: () => leave(item().dataset.review, () => send(`/api/reviews/${item().dataset.review}/escalate`, {}), "escalated"),
  upvote: () => vote("upvote"),
  downvote: () => vote("downvote"),
  raw: toggleRaw,
  close: closeCorrection,
  discard: discardCorrection,
  next: showNext,
};

/** Go to a field of the bar, which may be folded in. */
function enter(name) {
  const more = document.getElementById("more");
  if (more) more.open = true;
  document.getElementById(name)?.focus();
}

const buttonOf = (action) => holder.querySelector(`[data-action="${action}"]`);

/** A key does what its button does, and nothing where there is none. */
const press = (action) => buttonOf(action) && ACTIONS[action]();

// ---------------------------------------------------------------- correction with its diff

function openCorrection(focus = true) {
  document.getElementById("correction").hidden = false;
  showOutcome("correct");
  if (focus) {
    document.getElementById("corrected").focus();
    if (!isEdited()) chooseClaim();
  }
  showDiff();
}

/** Choose the text of the selected claim in the editor and scroll to it, so that it is found in a long answer. */
function chooseClaim() {
  const row = holder.querySelector(".selected-row");
  if (!row) return;
  const corrected = document.getElementById("corrected");
  const text = corrected.value;
  const characters = [...text]; // offsets count code points
  const [start, end] = [row.dataset.start, row.dataset.end].map((offset) => characters.slice(0, Number(offset)).join("").length);
  // Browsers tell the height of a text, not of a place in it.
  corrected.value = text.slice(0, end);
  const below = corrected.scrollHeight;
  corrected.value = text;
  corrected.setSelectionRange(start, end);
  corrected.scrollTop = below - corrected.clientHeight / 2;
}

/** Close the editor; its text stays in the draft and comes back when the editor is opened again. */
function closeCorrection() {
  document.getElementById("correction").hidden = true;
  showOutcome("approve");
  document.getElementById("question").focus({ preventScroll: true });
  if (isEdited()) say("The editor is closed. Your text is kept and not sent; open it with c.");
}

function discardCorrection() {
  const corrected = document.getElementById("corrected");
  corrected.value = corrected.defaultValue;
  keepDraft(holder, item().dataset.review);
  closeCorrection();
}

function showDiff() {
  if (!isOpen()) return; // the request was decided while the diff waited
  const corrected = document.getElementById("corrected");
  document.getElementById("diff").replaceChildren(...differences(corrected.defaultValue, corrected.value));
  if (isEdited() && item().dataset.second === undefined) showCorrection(item().dataset.review, corrected.value);
}

for (const name of ["input", "change"]) {
  holder.addEventListener(name, (event) => {
    if (!isOpen()) return;
    keepDraft(holder, item().dataset.review);
    if (event.target.dataset.verdict) showOwnVerdicts();
    if (event.target.id !== "corrected") return;
    clearTimeout(diffTimer);
    diffTimer = setTimeout(showDiff, DIFF_WAIT_MS);
  });
}

addEventListener("beforeunload", (event) => {
  if (isOpen() && isEdited()) event.preventDefault();
});

// ---------------------------------------------------------------- keys and clicks

const KEYS = {
  a: () => press("approve"),
  w: () => press("warn"),
  c: () => press("correct"),
  r: () => press("reject"),
  s: () => press("skip"),
  e: () => press("escalate"),
  g: () => press("upvote"),
  b: () => press("downvote"),
  u: undo,
  j: () => step(1),
  k: () => step(-1),
  n: stepToDoubt,
  y: () => enter("decision-reason"),
  m: () => enter("comment"),
  t: () => press("raw"),
  i: toggleGuidelines,
  p: nextOutcome,
  "?": () => help.showModal(),
};

document.addEventListener("keydown", (event) => {
  const field = event.target.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.id === "corrected") {
    event.preventDefault();
    decide("correct");
    return;
  }
  if (event.key === "Escape" && !help.open && !unsent.open && (field || correctionOpen())) {
    if (correctionOpen() && (!field || field.id === "corrected")) closeCorrection();
    else document.getElementById("question")?.focus({ preventScroll: true });
    return;
  }
  if (field || help.open || unsent.open || event.ctrlKey || event.metaKey || event.altKey || !keysOn.checked) return;
  const run = KEYS[event.key] ?? (VERDICT_KEYS[event.key] && (() => judge(VERDICT_KEYS[event.key])));
  if (run) {
    event.preventDefault();
    // A key that is held down goes through claims, but decides once.
    if (!event.repeat || [KEYS.j, KEYS.k, KEYS.n].includes(run)) run();
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
  return Promise.allSettled(reviews.map((review) => send(`/api/reviews/${review}/unlock`, undefined, { keepalive: true })));
}

filters.addEventListener("submit", async (event) => {
  event.preventDefault();
  const address = addressOf(filters);
  history.replaceState(null, "", address ? `/review?${address}` : "/review");
  filtered = location.search;
  await showing;
  await ahead?.nodes.catch(() => {});
  const held = taken;
  [ahead, taken] = [null, []];
  await giveBack(held);
  await showNext();
});
addEventListener("pagehide", () => giveBack(taken));

if (isOpen()) {
  taken.push(item().dataset.review);
  renew(item().dataset.review).catch(complain);
  begin();
  loadAhead();
} else if (item()) {
  begin();
} else {
  showNext();
}
