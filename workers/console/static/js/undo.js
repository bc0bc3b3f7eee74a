// The last step of a reviewer that can be undone: on which request, and for how long.

import { buttonFor, complain, keptFilters, say, send, small } from "./common.js";
import { whileOff } from "./waiting.js";

const MARGIN_MS = 1_500; // the clock of the response has whole seconds, and the request takes its time

// Steps outlive the page that they were made on, for as long as they can be undone.
const STORE = "undoable-steps";
const UNDONE = "undone-step"; // what the next page says, and the requests that it concerns
const steps = JSON.parse(sessionStorage.getItem(STORE) ?? "[]").filter((each) => Date.parse(each.until) > Date.now());
const reopening = new Map();
let voted = false;

function keep() {
  sessionStorage.setItem(STORE, JSON.stringify(steps));
}

/** The name of the button, with its key on pages where that key counts. */
const undoName = () => (document.getElementById("keys-on")?.checked && !small.matches ? "Undo (u)" : "Undo");

/** How long a step can be undone, in ms, by the settings. */
const windowMs = () => Number(document.querySelector("[data-undo-seconds]").dataset.undoSeconds) * 1000;

/** Say what was done to requests and offer to undo it; without an end of the time it cannot be undone. `run` shows what was undone;
 *  without it a page is loaded that does. The kind of a skip or escalation is "left". */
export function offerUndo({ reviews, question, words, until, at, run, kind }) {
  voted = false;
  // The clock of the response may be seconds behind: a step cannot be undone for longer than the page says.
  const forMs = Math.min(Date.parse(until) - (at || Date.now()) - MARGIN_MS, windowMs());
  if (until) {
    steps.splice(0, steps.length, ...steps.filter((each) => Date.parse(each.until) > Date.now() && each.reviews[0] !== reviews[0]));
    steps.push({ reviews, question, words, until, kind });
    if (run) reopening.set(reviews[0], run);
    else reopening.delete(reviews[0]);
    keep();
  }
  say(`${words}: ${question}`, until && forMs > 0 ? { name: undoName(), about: question, run: undo, forMs } : undefined);
}

/** Say what was undone before this page was loaded, and offer to undo the last step that was made on a page before. */
export function offerLeft() {
  const undone = JSON.parse(sessionStorage.getItem(UNDONE) ?? "null");
  sessionStorage.removeItem(UNDONE);
  if (undone) leadFocus(undone.reviews);
  if (undone?.error) {
    complain(undone.error);
    return;
  }
  const step = steps.at(-1);
  const forMs = step ? Date.parse(step.until) - Date.now() - MARGIN_MS : 0;
  const words = [undone?.done, forMs > 0 ? `${step.words}: ${step.question}` : ""].filter(Boolean).join(". ");
  if (words) say(words, forMs > 0 ? { name: undoName(), about: step.question, run: undo, forMs } : undefined);
}

/** Lead the focus, which went with the page before, to the first of these requests in the list; to the content where none is listed. */
function leadFocus(reviews) {
  // Until it is loaded, the browser would put the page where it was, over what is led here.
  if (document.readyState === "complete") history.scrollRestoration = "auto";
  else addEventListener("load", () => setTimeout(() => (history.scrollRestoration = "auto")), { once: true });
  if (document.activeElement !== document.body) return; // the page has a place of its own
  const listed = [...document.querySelectorAll("[data-choose]:enabled")].find((box) => reviews.includes(box.dataset.choose));
  (listed ?? document.getElementById("main")).focus();
}

/** Load a page that shows requests as they are now, and says what was undone: several in the list, a single one on its page. */
async function leaveFor(undone, single) {
  sessionStorage.setItem(UNDONE, JSON.stringify(undone));
  if (single) location.assign(`/review/${undone.reviews[0]}${keptFilters()}`);
  else {
    history.scrollRestoration = "manual"; // the page begins where its focus is led
    location.reload();
  }
  await new Promise(() => {}); // the page is left: what is undone next is seen on the next one
}

/** Remember that the last key was a vote, which stays: the next undo must not surprise with an older step. */
export function noteVote() {
  voted = steps.length > 0;
}

let undoing = Promise.resolve();

const undoNext = (run) => (undoing = undoing.then(run, run));

/** Undo the last step; one that is asked for meanwhile waits for it, and undoes the step before. */
export const undo = () => undoNext(undoLast);

/** What was decided on a request by whoever looks at it, with a button that undoes it as long as that is possible. */
export function undoButtonOf(review, question, decidedAt) {
  const made = steps.find(({ reviews }) => reviews.includes(review));
  // A decision that was made in another window is known by its time alone.
  const step = made ?? { reviews: [review], question, words: "decided", until: new Date(Date.parse(decidedAt) + windowMs()).toISOString() };
  const until = Date.parse(step.until) - MARGIN_MS;
  const run = () => {
    button.remove(); // a second click must not undo another step
    undoNext(() => undoStep(step));
  };
  const button = buttonFor({ name: "Undo", about: step.question, until, run });
  setTimeout(() => button.remove(), until - Date.now());
  return { words: step.words, button: until > Date.now() ? button : "" };
}

async function undoLast() {
  const step = steps.at(-1);
  if (!step) {
    say("There is nothing to undo.");
    return;
  }
  if (voted) {
    voted = false;
    say(`A vote cannot be undone. Undo again to undo this instead: ${step.words}: ${step.question}`);
    return;
  }
  await undoStep(step);
}

/** Undo a step; a refusal names its request, and that nothing happened to the one that is shown. */
const undoStep = (step) => whileOff(`Being undone: ${step.words}: ${step.question}`, () => sendUndo(step));

async function sendUndo(step) {
  const { reviews, question } = step;
  const asked = [...reviews];
  const [first] = asked;
  const refusals = [];
  step.of ??= reviews.length;
  step.undone ??= 0;
  try {
    while (reviews.length) {
      try {
        await send(`/api/reviews/${reviews.at(-1)}/undo`);
        step.undone += 1;
      } catch (error) {
        if (error.status !== 404 && error.status !== 409) throw error;
        refusals.push(error);
      }
      reviews.pop();
    }
    steps.splice(0, steps.length, ...steps.filter((each) => each !== step));
  } catch (error) {
    // A store or the broker is away: the rest can be undone later.
    refusals.push(error);
  }
  keep();
  if (refusals.length) {
    const [{ status, message, problem }] = refusals;
    const isPart = step.of > 1 && step.undone;
    const error = { status, problem, message: isPart ? `${step.undone} of ${step.of} undone; ${message}` : message };
    if (isPart && !reviews.length) await leaveFor({ error, reviews: asked }, false);
    // A request that was left is open: it is found again where many have the same question.
    const isLeft = step.of === 1 && step.kind === "left" && status === 409;
    complain(error, isLeft ? { name: "Open it", run: () => location.assign(`/review/${first}${keptFilters()}`) } : undefined);
    return;
  }
  const done = `Undone: ${question}`;
  if (reopening.has(first)) {
    await reopening.get(first)();
    say(done);
    return;
  }
  await leaveFor({ done, reviews: asked }, step.of === 1);
}
