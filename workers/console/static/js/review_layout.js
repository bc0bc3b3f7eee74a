// What is folded and how high the fixed parts of the review page are.

import { small } from "./common.js";
import { select } from "./claims.js";
import { holder } from "./review_item.js";

/** Open or close the guidelines; they stay as they are for the next request. */
export function toggleGuidelines() {
  const guidelines = document.getElementById("guidelines");
  if (!guidelines) return;
  guidelines.open = !guidelines.open;
  guidelines.scrollIntoView({ block: "nearest" });
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

small.addEventListener("change", foldMore);

/** The question with what readers see. */
const head = () => holder.querySelector(".request-head");

/** Tell the page how high the question and the bar of the decision are, so that nothing is scrolled behind them. */
function fitBar() {
  const bar = holder.querySelector(".decide");
  const question = document.getElementById("question");
  if (!question) return; // the queue is empty
  document.documentElement.style.setProperty("--bar", `${bar ? bar.offsetHeight : 0}px`);
  document.documentElement.style.setProperty("--question", `${head().offsetHeight}px`);
  question.tabIndex = question.scrollHeight > question.clientHeight ? 0 : -1; // a long one is scrolled by keys
}

/** Return how far the page is scrolled, in px, when the question reaches the line of messages; 0 in a low window. */
export function startOfQuestion() {
  const { position, insetBlockStart } = getComputedStyle(head());
  if (position !== "sticky") return 0;
  return holder.querySelector(".review-item").getBoundingClientRect().top + scrollY - parseFloat(insetBlockStart);
}

const barSize = new ResizeObserver(fitBar);

/** Prepare the layout of the request that is shown. */
export function beginLayout() {
  foldMore();
  beginGuidelines();
  barSize.disconnect();
  const bar = holder.querySelector(".decide");
  for (const part of [bar, head()]) if (part) barSize.observe(part);
  fitBar();
}
