// The review queue: one request after the other, on keys, with the next one loaded ahead.

import { active } from "./active_time.js";
import { claimWords, foundContradicted, judge, ownVerdicts, select, selectFirst, showOwnVerdicts, step, stepToDoubt, toggleRaw, unjudged } from "./claims.js";
import { beforeLogOut, complain, keepFilters, keptFilters, parsed, reasonOf, say, send, small, waitedFor } from "./common.js";
import { compareText, showStale } from "./comparison.js";
import { closeCorrection, correctionOpen, discardCorrection, isBlank, isEdited, openCorrection, showDiffSoon, showUnsent } from "./correction.js";
import { ask, askUnsent } from "./dialogs.js";
import { draftOf, keepDraft, writeDraft } from "./drafts.js";
import "./opinions.js";
import { beginOutcomes, nextOutcome, showGivenChanges } from "./outcomes.js";
import { notePaint, wasPainted } from "./painted.js";
import { showAddress, reviewOfAddress } from "./review_address.js";
import { buttonOf, holder, isOpen, item, keep, nameOf } from "./review_item.js";
import { beginLayout, low, startOfQuestion, toggleGuidelines, toggleQuestion } from "./review_layout.js";
import { addressOf } from "./saved_filters.js";
import { fieldOf, isShortcut } from "./shortcuts.js";
import { noteVote, offerUndo, undo, undoButtonOf } from "./undo.js";
import { isOff, onSince, sayTooEarly, turnOn, whileOff } from "./waiting.js";

const help = document.getElementById("help");
const filters = document.getElementById("queue-filters");
const ownCount = document.getElementById("own-count");
const openCount = document.getElementById("open-count");
const heldCount = document.getElementById("held-count");

const VERDICT_KEYS = { 1: "supported", 2: "contradicted", 3: "unsupported", 4: "cannot_tell" };
const UNDO_MS = Number(holder.dataset.undoSeconds) * 1000;
const LOOK_AGAIN_MS = 15_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const PAUSE_MS = 1_000; // what was typed while the page waited has ended after it
const RENEW_MS = Math.min((Number(holder.dataset.lockSeconds) * 1000) / 3, LONGEST_TIMER_MS);

let ahead = null; // a promise of the nodes of the next request
let showing = Promise.resolve(); // settled when the last request that was asked for is shown
let taken = []; // identifiers that this page holds
let done = []; // identifiers decided or left here: the rows of the queue are a moment behind
let filtered = location.search; // the filters of what is shown
let sending = false; // a step that ends the work on a request is on its way
let sent = Promise.resolve(); // settled when it has arrived
let voted = Promise.resolve(); // settled when the last vote has arrived
let typedAhead = false; // keys were typed while the page waited for a reply
let lastAhead = 0; // when the last of them was typed, or of those that went on with them
let renewed = 0; // when the lock of what is shown was taken or renewed

// ---------------------------------------------------------------- loading

const chosenFilters = () => Object.fromEntries([...new FormData(filters)].filter(([, value]) => value !== ""));

const wanted = () => ({ ...chosenFilters(), without: [...taken, ...done].slice(-500) });

/** The next request as nodes, or null where there is none. */
async function fetchNext(isAhead = false) {
  const response = await send("/review/next", { ...wanted(), ahead: isAhead }, { background: isAhead });
  if (response.status === 204) return null;
  const nodes = [...parsed(response.text)];
  const article = nodes.find((node) => node.dataset?.review);
  if (article) taken.push(article.dataset.review);
  return nodes;
}

function loadAhead() {
  ahead = fetchNext(true);
  ahead.catch(() => {});
}

/** The nodes of the next request, or null where there is none; what fails is asked for once more. */
async function nextRequest() {
  const loaded = ahead;
  ahead = null;
  try {
    const nodes = await waitedFor(loaded);
    if (nodes && (await opensHere(nodes))) return nodes;
    // What was loaded ahead may have found nothing when there was nothing yet.
    return await fetchNext();
  } catch {
    return await fetchNext();
  }
}

/** Whether a request that was loaded ahead can be shown, which is recorded; another may have it by now. */
async function opensHere(nodes) {
  const review = nodes.find((node) => node.dataset?.review)?.dataset.review;
  try {
    await send(`/review/${review}/shown`);
    renewed = performance.now();
    return true;
  } catch (error) {
    if (error.status !== 409 && error.status !== 404) throw error;
    forget(review, error.problem.conflict);
    return false;
  }
}

/** Show the next request, one caller after the other; with its keys in reach unless somebody types elsewhere. What is looked for in
 *  the background turns nothing off meanwhile. */
function showNext({ background = false } = {}) {
  const load = async () => {
    try {
      const nodes = await nextRequest();
      if (nodes) show(nodes);
      else await showEmpty();
    } catch (error) {
      showAway(error);
    }
  };
  showing = showing.then(() => (background ? load() : whileOff("", load)));
  return showing;
}

/** Put something in the place of what is shown, with the question about it. */
function place(...nodes) {
  document.getElementById("unsent").close();
  holder.replaceChildren(...nodes);
  turnOn();
}

/** Show one request by its identifier, as it is now, also one that is decided or that another person has. */
function openReview(review) {
  const load = async () => {
    try {
      const nodes = [...parsed((await send(`/review/${encodeURIComponent(review)}/item`, undefined, { method: "GET" })).text)];
      const left = isOpen() ? item().dataset.review : review;
      if (isOpen()) keep();
      if (left !== review) {
        taken = taken.filter((each) => each !== left);
        giveBack([left]);
      }
      const isClosed = nodes.find((node) => node.dataset?.review).dataset.closed !== undefined;
      const refusal = isClosed ? undefined : await lockOf(review);
      place(...nodes);
      showAddress(review);
      begin();
      if (refusal) stop(refusal, review);
    } catch (error) {
      complain(error);
    }
  };
  showing = showing.then(() => whileOff("", load));
  return showing;
}

// Back and forward show the request of the address; what was typed is kept in its draft.
addEventListener("popstate", async () => {
  await sent; // it does not go on to the next request where the address leads elsewhere
  if (location.search !== filtered) location.reload();
  else if (reviewOfAddress()) openReview(reviewOfAddress());
  else showNext();
});

function show(nodes) {
  const focus = !holder.querySelector("#queue-empty") || !document.activeElement?.matches("input, select, textarea");
  place(...nodes);
  showAddress(item().dataset.review);
  begin(focus);
  loadAhead();
}

/** Say that nothing is offered, and what is left; what says so already is renewed only where it has changed. */
async function showEmpty() {
  const left = parsed((await send("/review/remaining", chosenFilters())).text);
  const before = document.getElementById("queue-empty");
  const [empty] = [...left].filter((node) => node.id === "queue-empty");
  if (before?.outerHTML === empty.outerHTML) return;
  place(empty);
  showAddress("");
  if (!before || before.contains(document.activeElement) || document.activeElement === document.body) empty.focus();
}

/** An outage is not an empty queue. */
function showAway(error) {
  const words = document.createElement("p");
  words.id = "queue-away";
  words.className = "warn";
  words.textContent = `The next request could not be loaded: ${error.status ? error.message.replace(/\.$/, "") : "the console does not answer"}.`;
  const again = document.createElement("button");
  again.type = "button";
  again.textContent = "Try again";
  again.setAttribute("aria-describedby", words.id);
  again.addEventListener("click", showNext);
  place(words, again);
  again.focus();
}

let counted = 0; // steps that were counted here

/** Show how many requests are open now, which others decide as well. */
async function showOpen() {
  const before = counted;
  const { open, held } = JSON.parse((await send(`/review/counts?${addressOf(filters)}`, undefined, { method: "GET", background: true })).text);
  // A step of this page that came between may be in the counts or not.
  if (before === counted && !sending) [openCount.textContent, heldCount.textContent] = [open, held].map(String);
}

setInterval(() => {
  if (document.visibilityState === "visible") showOpen().catch(() => {}); // a message would cover what somebody reads
}, LOOK_AGAIN_MS);

setInterval(async () => {
  if (document.visibilityState !== "visible" || isOff() || !document.getElementById("queue-empty")) return;
  await showNext({ background: true });
  if (item()) say("A request waits for review.");
}, LOOK_AGAIN_MS);

function begin(focus = true) {
  const draft = draftOf(item().dataset.review);
  active.reset(draft?.seconds);
  beginOutcomes();
  showGivenChanges();
  if (draft && isOpen()) {
    writeDraft(holder, draft);
    if (isEdited()) openCorrection(false);
    showUnsent();
  }
  notePaint(() => {
    if (focus && !holder.contains(document.activeElement)) document.getElementById("question").focus({ preventScroll: true });
  });
  showOwnVerdicts();
  showDoubts(); // the bar has its height before the selected claim is led above it
  beginLayout();
  if (focus) scrollTo(0, 0);
  selectFirst();
  // An open request that was scrolled to the passage begins at its question: no control above stands half behind the line of
  // messages. On a closed one nothing is judged: it begins with who decided it.
  // In a narrow low window the question would then be out of sight: it comes first there, and a key leads to the claim. In any other
  // narrow window the answer begins below its question; a key leads to the claim there as well.
  if (focus && isOpen() && small.matches && !low.matches) document.getElementById("item-answer").scrollIntoView();
  else if (focus && scrollY > 0) scrollTo(0, isOpen() ? (low.matches ? startOfQuestion() : Math.max(scrollY, startOfQuestion())) : 0);
}

// ---------------------------------------------------------------- locks

async function renew(review) {
  await send(`/api/reviews/${review}/lock`, undefined, { background: true });
  renewed = performance.now();
}

/** Lock a request for this page; returns the error that keeps it from this reviewer. */
async function lockOf(review) {
  taken.push(review); // what is loaded ahead meanwhile is another one
  try {
    await renew(review);
    return undefined;
  } catch (error) {
    taken = taken.filter((each) => each !== review);
    return error;
  }
}

/** Keep what somebody looks at; what nobody looks at goes to others in time. */
function renewShown() {
  if (!isOpen() || isOff() || document.visibilityState !== "visible") return;
  const { review } = item().dataset;
  renew(review).catch((error) => stop(error, review));
}
setInterval(renewShown, RENEW_MS);
document.addEventListener("visibilitychange", () => {
  if (performance.now() - renewed >= RENEW_MS) renewShown();
});

/** Say above a request, unless the page has gone on to another, why it cannot be decided here now, and turn its decisions off; what was
 *  typed stays. */
function stop(error, review) {
  if (item()?.dataset.review !== review) return;
  if (!isOpen() || (error.status !== 409 && error.status !== 404)) {
    complain(error);
    return;
  }
  const article = item();
  article.dataset.closed = "";
  forget(review, error.problem.conflict);
  const isOwn = error.problem.conflict === "decided" && error.problem.who === holder.dataset.name;
  const { words, button } = isOwn ? undoButtonOf(review, nameOf(article), error.problem.when) : {};
  const card = document.getElementById("stopped").content.firstElementChild.cloneNode(true);
  card.querySelector("[data-words]").textContent = isOwn ? `You have ${words} this request.` : `${causeOf(error)}.`;
  card.querySelector("[data-undo]").replaceWith(button ?? "");
  article.querySelector(".request-head").after(card);
  // What readers see and get at the deadline is what was decided, unless nobody has decided yet.
  const past = error.problem.conflict === "locked" ? [] : article.querySelectorAll(".state-line, .deadline, .at-deadline, [data-outcome=deadline], [data-outcome-of=deadline], #doubts");
  for (const each of past) each.hidden = true;
  for (const each of article.querySelectorAll(".decide [data-action]:not([data-action=edit]), [data-action=send], [data-action=compare], [data-action=discard], [data-verdict]")) each.disabled = true;
  for (const each of article.querySelectorAll("#corrected, #comment, #decision-reason")) each.readOnly = true;
  card.scrollIntoView({ block: "nearest" }); // the request may be scrolled to its passage
  if (!isOwn) complain(error);
}

/** The cause of a refusal as a sentence without its full stop, and without what to do next, for which there are buttons. */
const causeOf = ({ message }, request = "this request") =>
  message.replace(/; (wait until then, or )?take the next one/, "").replace("this request", request).replace(/\.$/, "");

/** What was decided or left here, or is another's, who may give it back. */
function forget(review, conflict) {
  if (conflict !== "locked") done.push(review);
  taken = taken.filter((each) => each !== review);
}

// ---------------------------------------------------------------- deciding

const said = () => ({
  user_comment: document.getElementById("comment").value || null,
  reason: reasonOf(document.getElementById("decision-reason")),
});

/** A vote is feedback and decides nothing: the request stays, and a step that ends the work on it waits for the vote. */
function vote(action) {
  if (!isOpen()) return;
  const article = item();
  const body = { ...said(), user_action: action };
  say(`Being sent: ${action}d: ${nameOf(article)}`);
  voted = voted.then(async () => {
    try {
      await send(`/api/reviews/${article.dataset.review}/decision`, body);
      for (const name of ["upvote", "downvote"]) article.querySelector(`[data-action="${name}"]`).setAttribute("aria-pressed", String(name === action));
      noteVote();
      if (!sending) say(`${action}d. The request still waits for its decision.`);
    } catch (error) {
      if (!sending) complain(error);
    }
  });
}

/** Say which claims speak against an approval that has neither a verdict on them nor a reason. */
function showDoubts() {
  const words = document.getElementById("doubts");
  if (!words) return;
  const { reason, user_comment: comment } = said();
  const numbers = reason || comment ? [] : unjudged();
  words.textContent = numbers.length ? `Contradicted: ${claimWords(numbers)}. To approve all the same, give your verdict or a reason.` : "";
}

/** What a decision is for its reason: an approval with a warning is an approval. */
const kindOf = (action) => (action === "warn" ? "approve" : action);

/** Whether reason and comment were sent with another kind of decision, which was undone: they may not fit this one. */
const isSaidForAnother = (action) => ![undefined, kindOf(action)].includes(item().dataset.saidFor);

/** Say in the dialogs for a reason why what stands there may not fit: it was sent with a decision that was undone. */
function showSaidBefore(action) {
  const before = { approve: "approval", correct: "correction", reject: "rejection" }[item().dataset.saidFor];
  const words = isSaidForAnother(action) ? `Your reason or comment was for the ${before} that you have undone: change it, or send it as it is.` : "";
  for (const place of holder.querySelectorAll("[data-said-before]")) place.textContent = words;
}

/** Ask for the reason of a decision, where one of an undone decision may stand, then make it. */
function askWhy(action) {
  showSaidBefore(action);
  const field = document.getElementById("decision-reason");
  const comment = document.getElementById("comment").value;
  const done = { approve: "approved", correct: "corrected", reject: "rejected" }[kindOf(action)];
  document.getElementById("why-title").textContent = `Why is it ${done}?`;
  document.getElementById("why-comment").textContent = comment ? `Your comment goes with it: “${comment}”` : "";
  document.getElementById("why-go").textContent = buttonOf(action).firstChild.textContent.trim();
  const goOn = (given) => {
    field.value = given.value;
    delete item().dataset.saidFor;
    decide(action, true);
  };
  ask("why", goOn, field.value);
}

/** Approve, also with a warning; ask for a verdict or a reason where a claim is contradicted. */
function approve(action) {
  const { reason, user_comment: comment } = said();
  if (isOff() || !isOpen()) return;
  if (buttonOf(action).ariaDisabled) {
    complain({ status: 422, message: "The answer is empty, so readers would get nothing; write a correction, or reject the answer" });
    return;
  }
  const [found, open] = [foundContradicted(), unjudged()];
  const another = isSaidForAnother(action);
  if (((reason || comment) && !another) || !(found.length || open.length) || isEdited()) {
    decide(action);
    return;
  }
  const words = [
    found.length ? `You found ${claimWords(found)} contradicted.` : "",
    open.length ? `The evaluation found ${claimWords(open)} contradicted, without a verdict of yours: cancel to give it, or give a reason.` : "",
  ];
  showSaidBefore(action);
  document.getElementById("approval-claims").textContent = words.filter(Boolean).join(" ");
  document.getElementById("approval-go").textContent = action === "warn" ? "Approve with a warning" : "Approve";
  const reasonField = document.getElementById("decision-reason");
  ask(
    "approval",
    (field) => {
      reasonField.value = field.value;
      delete item().dataset.saidFor;
      decide(action);
    },
    reasonField.value,
  );
}

async function decide(action, discarded = false) {
  const article = item();
  if (!isOpen() || isOff()) return;
  const review = article.dataset.review;
  const corrected = document.getElementById("corrected");
  if (action === "correct" && isBlank()) {
    complain({ status: 422, message: "The correction is empty. Write the text that readers get, or reject the answer." });
    return;
  }
  if (action === "correct" && !isEdited()) {
    complain({ status: 422, message: "The text is unchanged. Edit it, or approve the answer." });
    return;
  }
  if (action !== "correct" && !discarded && isEdited() && !(await discards(action))) return;
  if (item() !== article) return; // a step back showed another one meanwhile
  const { reason, user_comment: comment } = said();
  if ((reason || comment) && isSaidForAnother(action)) {
    askWhy(action);
    return;
  }
  active.count();
  if (reason || comment) article.dataset.saidFor = kindOf(action);
  keepDraft(holder, review, action === "correct");
  const body = {
    ...said(),
    user_action: action === "warn" ? "approve" : action,
    with_warning: action === "warn",
    corrected_answer: action === "correct" ? corrected.value : null,
    review_duration: active.seconds,
    claim_verdicts: ownVerdicts(),
    version: Number(article.dataset.version),
  };
  const words = action === "warn" ? "approved with a warning" : `${action}${action.endsWith("e") ? "d" : "ed"}`;
  await leave(review, () => send(`/api/reviews/${review}/decision`, body), words, { decides: true, correcting: action === "correct" });
}

/** Count a decision at the head of the page, or take it back; what was skipped or escalated stays open. */
function count({ second, held }, number = 1) {
  const add = (shown, more) => (shown.textContent = String(Math.max(0, Number(shown.textContent) + more)));
  counted += 1;
  add(ownCount, number);
  if (second === undefined) add(openCount, -number);
  if (held !== undefined) add(heldCount, -number);
}

/** Do something that ends the work on a request, then show the next one; meanwhile the page is off and says what is sent. */
async function leave(review, act, words, { decides = false, correcting = false } = {}) {
  if (isOff() || !isOpen()) return;
  const article = item();
  const name = nameOf(article);
  sending = true;
  sent = whileOff(`Being sent: ${words}: ${name}`, async () => {
    try {
      await voted;
      const response = await act();
      forget(review);
      if (decides) count(article.dataset);
      const receipt = response.text ? JSON.parse(response.text) : {};
      await goOnFrom(review);
      const run = () => {
        done = done.filter((each) => each !== review);
        if (decides) count(article.dataset, -1);
        return openReview(review);
      };
      // What was skipped or escalated can be undone for as long as a decision.
      const until = decides ? receipt.undo_until : UNDO_MS && new Date((response.at || Date.now()) + UNDO_MS).toISOString();
      offerUndo({ reviews: [review], question: name, words, until, at: response.at, run, kind: decides ? "decided" : "left" });
    } catch (error) {
      // Requests of other tenants and times may have the same question.
      await refused(review, error, { correcting, what: `Not ${words}: ${name}, ${article.dataset.place}` });
    } finally {
      sending = false;
    }
  });
  await sent;
}

/** Show the next request, unless a step back leads to another one meanwhile. */
const goOnFrom = (review) => reviewOfAddress() === review && showNext();

/** Go on after a refusal: look at what has changed, keep a correction that was typed, else leave it to who was faster. */
async function refused(review, error, { correcting, what }) {
  if (error.problem?.conflict === "changed") {
    await reload(review);
    return;
  }
  const gone = error.status === 409 || error.status === 404;
  if (gone && correcting) {
    stop(error, review);
    complain({ ...error, message: `${causeOf(error)}. Nothing was sent; your correction is still here.` });
    return;
  }
  if (gone) {
    forget(review, error.problem.conflict);
    await goOnFrom(review);
    complain({ ...error, message: `${what}. ${causeOf(error, "it")}.` });
    return;
  }
  complain(error);
}

/** Show a request as it is now, with what was typed. */
async function reload(review) {
  const correcting = correctionOpen();
  keepDraft(holder, review);
  try {
    const response = await send(`/review/${review}/item`, undefined, { method: "GET" });
    place(...parsed(response.text));
  } catch (error) {
    complain(error);
    return;
  }
  begin();
  if (correcting) openCorrection();
  say("Another result has replaced this request. Nothing was sent: look again and decide.");
}

const ACTIONS = {
  approve: () => approve("approve"),
  warn: () => approve("warn"),
  correct: () => isOpen() && openCorrection(),
  edit: openCorrection,
  send: () => decide("correct"),
  reject,
  skip,
  escalate,
  upvote: () => vote("upvote"),
  downvote: () => vote("downvote"),
  raw: toggleRaw,
  question: toggleQuestion,
  compare: compareText,
  close: closeCorrection,
  discard: discardCorrection,
  next: () => showNext(),
  again: () => openReview(item().dataset.review),
};

/** Ask about a correction that was typed when another decision is taken; true to discard it. */
async function discards(action) {
  const answer = await askUnsent(action);
  if (answer === "send") {
    openCorrection(false);
    decide("correct");
  } else if (answer === "edit") openCorrection();
  return answer === "discard";
}

/** Leave the request to others for a while. */
function skip() {
  if (!isOpen()) return;
  const review = item().dataset.review;
  active.count();
  keep();
  leave(review, () => send(`/api/reviews/${review}/skip`), "skipped");
}

/** Ask why others should decide, then escalate with the verdicts that were given so far. */
function escalate() {
  if (isOff() || !isOpen()) return;
  const review = item().dataset.review;
  const verdicts = ownVerdicts();
  document.getElementById("escalation-verdicts").textContent = verdicts.length
    ? `The next reviewer sees your verdicts on ${verdicts.length === 1 ? "one claim" : `${verdicts.length} claims`} as yours.`
    : "";
  ask("escalation", (field) =>
    leave(review, () => send(`/api/reviews/${review}/escalate`, { reason: field.value.trim(), claim_verdicts: verdicts }), "escalated"),
  );
}

/** Ask why an answer is rejected unless it was said already, then reject it. */
async function reject() {
  const { reason, user_comment: comment } = said();
  const article = item();
  if (isOff() || !isOpen() || (isEdited() && !(await discards("reject"))) || item() !== article) return;
  if (reason || comment) decide("reject", true);
  else askWhy("reject");
}

/** Go to a field of the bar, which may be folded in. */
function enter(name) {
  const more = document.getElementById("more");
  if (more) more.open = true;
  document.getElementById(name)?.focus();
}

/** Actions on the request that is shown, which must have been seen. */
const ON_REQUEST = new Set(["approve", "warn", "correct", "send", "reject", "skip", "escalate", "upvote", "downvote", "compare"]);

/** A key does what its button does, and nothing where there is none. */
const press = (action, event) => buttonOf(action) && act(action, event);

function act(action, event) {
  if (wasPainted(event) || !ON_REQUEST.has(action)) ACTIONS[action]();
}

for (const name of ["input", "change"]) {
  holder.addEventListener(name, (event) => {
    if (!isOpen()) return;
    if (["decision-reason", "comment"].includes(event.target.id)) delete item().dataset.saidFor; // it is said for what comes next
    keep();
    if (event.target.dataset.verdict) showOwnVerdicts();
    showDoubts();
    if (event.target.id === "corrected") {
      showStale();
      showUnsent();
      showDiffSoon();
    }
  });
}

// ---------------------------------------------------------------- keys and clicks

const KEYS = {
  a: (event) => press("approve", event),
  w: (event) => press("warn", event),
  c: (event) => press("correct", event),
  r: (event) => press("reject", event),
  s: (event) => press("skip", event),
  e: (event) => press("escalate", event),
  g: (event) => press("upvote", event),
  b: (event) => press("downvote", event),
  u: undo,
  j: () => step(1),
  k: () => step(-1),
  n: stepToDoubt,
  y: () => enter("decision-reason"),
  m: () => enter("comment"),
  t: (event) => press("raw", event),
  i: toggleGuidelines,
  p: nextOutcome,
  "?": () => help.showModal(),
};

/** Whether a key came too early for what is shown now: while the page waited for a reply, or in one go with what was typed then. While
 *  something is undone, another undo waits for it, unless other keys were typed before. */
function isEarly(event) {
  if (isOff() && event.key === "u" && !sending && !typedAhead) return false;
  const isPaused = event.timeStamp - Math.max(lastAhead, onSince()) >= PAUSE_MS;
  typedAhead = isOff() || (typedAhead && !isPaused);
  if (typedAhead) lastAhead = event.timeStamp;
  return typedAhead;
}

document.addEventListener("keydown", (event) => {
  const field = fieldOf(event);
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.altKey)) {
    // Elsewhere it presses nothing: browsers take it for Enter on a button.
    event.preventDefault();
    const isInEditor = event.target.id === "corrected" || (correctionOpen() && !field && !document.querySelector("dialog[open]"));
    if (isInEditor && (event.ctrlKey || event.metaKey)) decide("correct");
    else if (isInEditor && !event.repeat) press("compare", event);
    return;
  }
  if (event.key === "Escape" && isOff()) return;
  if (event.key === "Escape" && !document.querySelector("dialog[open]") && (field || correctionOpen())) {
    if (correctionOpen() && (!field || field.id === "corrected")) closeCorrection();
    else document.getElementById("question")?.focus({ preventScroll: true });
    return;
  }
  if (!isShortcut(event) || event.key.length > 1) return;
  if (isEarly(event)) {
    event.preventDefault();
    if (event.key === "u" && sending) sayTooEarly();
    return;
  }
  const run = KEYS[event.key] ?? (VERDICT_KEYS[event.key] && (() => judge(VERDICT_KEYS[event.key])));
  if (run) {
    event.preventDefault();
    // A key that is held down goes through claims, but decides once.
    if (!event.repeat || [KEYS.j, KEYS.k, KEYS.n].includes(run)) run(event);
  }
});

holder.addEventListener("click", (event) => {
  const action = event.target.closest("[data-action]")?.dataset.action;
  if (action) act(action, event);
  const [listed, marked] = [event.target.closest("[data-show]"), event.target.closest("mark[data-claim]")];
  if (listed) select(listed.dataset.show, { inList: true });
  else if (marked) select(marked.dataset.claim);
});
document.getElementById("help-open").addEventListener("click", () => help.showModal());
document.getElementById("help-close").addEventListener("click", () => help.close());

/** Give back what nobody looks at any more, also when the page is left. */
function giveBack(reviews) {
  return Promise.allSettled(reviews.map((review) => send(`/api/reviews/${review}/unlock`, undefined, { keepalive: true, background: true })));
}

/** Use the filters that were used last where the address names a request and none: a link to one request resets none. */
function takeKeptFilters() {
  if (!reviewOfAddress() || location.search || !keptFilters()) return;
  for (const [name, value] of new URLSearchParams(keptFilters())) {
    const field = filters.elements[name] ?? filters.appendChild(Object.assign(document.createElement("input"), { type: "hidden", name }));
    if (field.options && ![...field.options].some((option) => option.value === value)) field.add(new Option(value, value));
    field.value = value;
  }
  history.replaceState(null, "", location.pathname + keptFilters());
  filtered = location.search;
  document.getElementById("by-filters").textContent = " of the filters";
  showOpen().catch(() => {});
}

filters.addEventListener("submit", async (event) => {
  event.preventDefault();
  const address = addressOf(filters);
  history.replaceState(null, "", address ? `/review?${address}` : "/review");
  filtered = location.search;
  keepFilters(filtered);
  document.getElementById("by-filters").textContent = address ? " of the filters" : "";
  showOpen().catch(() => {});
  await sent;
  await showing;
  // What is shown may not be what the filters choose: a key would decide it.
  const load = async () => {
    await ahead?.catch(() => {});
    const held = taken;
    [ahead, taken] = [null, []];
    await giveBack(held);
    await showNext();
  };
  await waitedFor(whileOff("", load), "Loading what the filters choose…", 0);
});
addEventListener("pagehide", () => {
  if (isOpen() && !sending) keep();
  giveBack(taken);
});
beforeLogOut(() => giveBack(taken));
// A page that the browser kept comes back as it was left, without the lock that was given back.
addEventListener("pageshow", (event) => event.persisted && renewShown());

takeKeptFilters();
keepFilters(filtered);
if (isOpen()) {
  const { review } = item().dataset;
  lockOf(review).then((refusal) => refusal && stop(refusal, review));
  begin();
  loadAhead();
} else if (item()) {
  begin();
} else {
  showNext();
}
