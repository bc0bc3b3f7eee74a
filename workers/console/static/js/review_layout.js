// What is folded and how high the fixed parts of the review page are.

import { small } from "./common.js";
import { select } from "./claims.js";
import { holder } from "./review_item.js";

/** Open the guidelines and lead the focus there, or close them; they stay as they are for the next request. */
export function toggleGuidelines() {
  const guidelines = document.getElementById("guidelines");
  if (!guidelines) return;
  const hadFocus = guidelines.contains(document.activeElement);
  guidelines.open = !guidelines.open;
  guidelines.scrollIntoView({ block: "nearest" });
  if (guidelines.open) (guidelines.querySelector("[tabindex]") ?? guidelines.querySelector("summary")).focus({ preventScroll: true });
  else if (hadFocus) document.getElementById("question").focus({ preventScroll: true });
}

/** Prepare the guidelines of the request; they stay open or closed as for the request before. */
function beginGuidelines() {
  const guidelines = document.getElementById("guidelines");
  if (guidelines) {
    guidelines.open = sessionStorage.getItem("guidelines") === "open";
    guidelines.addEventListener("toggle", () => {
      sessionStorage.setItem("guidelines", guidelines.open ? "open" : "closed");
      if (holder.dataset.selected) select(holder.dataset.selected); // the passage has moved
    });
  }
}

/** Fold in the less used fields of the bar on a phone, unless something stands in them, which is sent with a decision. */
function foldMore() {
  const more = document.getElementById("more");
  if (more) more.open = !small.matches || [...more.querySelectorAll("input")].some((field) => field.value !== "");
}

/** Put what readers get below the answer; on a phone below the evidence, which is next to the answer then. */
function placeOutcomes() {
  const outcomes = document.getElementById("outcomes");
  const [answer, evidence] = holder.querySelectorAll(".side-by-side > section");
  if (!outcomes) return;
  if (small.matches) evidence.after(outcomes);
  else answer.append(outcomes);
}

small.addEventListener("change", foldMore);
small.addEventListener("change", placeOutcomes);

/** A narrow low window, such as a magnified one: an open request begins at its question, which stays there on one line. */
export const low = matchMedia("(max-width: 56rem) and (max-height: 43.74rem)");

/** The question with what readers see. */
const head = () => holder.querySelector(".request-head");

const ROUNDING_PX = 2;

/** Tell the page how high the question and the bar of the decision are, so that nothing is scrolled behind them. */
function fitBar() {
  const bar = holder.querySelector(".decide");
  const question = document.getElementById("question");
  if (!question) return; // the queue is empty
  document.documentElement.style.setProperty("--bar", `${bar ? bar.offsetHeight : 0}px`);
  document.documentElement.style.setProperty("--question", `${head().offsetHeight}px`);
  const [more, isWhole] = [document.getElementById("question-more"), isWholeQuestion()];
  const isCut = question.scrollHeight - question.clientHeight > ROUNDING_PX;
  more.hidden = !isCut && !isWhole;
  question.tabIndex = isCut && isWhole ? 0 : -1; // one that is longer than its place is scrolled by keys
}

const questionLine = () => holder.querySelector(".question-line");

const isWholeQuestion = () => questionLine().classList.contains("whole");

/** Show a long question as a whole, or its beginning again. */
export function toggleQuestion() {
  const isWhole = questionLine().classList.toggle("whole");
  const more = document.getElementById("question-more");
  more.setAttribute("aria-expanded", String(isWhole));
  more.firstElementChild.textContent = isWhole ? "Less" : "More";
  fitBar();
}

/** Return how far the page is scrolled, in px, when the question reaches the place where it stays; 0 where it stays nowhere. */
export function startOfQuestion() {
  const { position, insetBlockStart } = getComputedStyle(low.matches ? questionLine() : head());
  if (position !== "sticky") return 0;
  return holder.querySelector(".review-item").getBoundingClientRect().top + scrollY - parseFloat(insetBlockStart);
}

const barSize = new ResizeObserver(fitBar);

// A message of several lines moves the question down instead of covering it.
const messages = document.getElementById("status");
new ResizeObserver(() => document.documentElement.style.setProperty("--status", `${messages.offsetHeight}px`)).observe(messages);

const pageHead = document.querySelector(".review-head");
let headInSight = true;

/** Show the counts of the head in the line of messages while the head is scrolled away; a message takes their place but for that of open
 *  requests. */
function showCounts() {
  const [own, open, held] = ["own-count", "open-count", "held-count"].map((name) => document.getElementById(name).textContent);
  const chosen = document.getElementById("by-filters").textContent;
  const words = `${own} decided by you today (UTC) · ${open} open${chosen}, ${held} with a waiting reader`;
  messages.dataset.counts = headInSight ? "" : words;
  if (headInSight) delete messages.dataset.open;
  else messages.dataset.open = `${open} open`;
}

new MutationObserver(showCounts).observe(pageHead, { subtree: true, childList: true, characterData: true });
new IntersectionObserver(([entry]) => {
  headInSight = entry.isIntersecting;
  showCounts();
}, { rootMargin: "-60px 0px 0px 0px" }).observe(pageHead); // behind the line of messages it is out of sight

/** Prepare the layout of the request that is shown. */
export function beginLayout() {
  foldMore();
  placeOutcomes();
  beginGuidelines();
  barSize.disconnect();
  const bar = holder.querySelector(".decide");
  for (const part of [bar, head(), questionLine()]) if (part) barSize.observe(part);
  fitBar();
}
