// The last step of a reviewer that can be undone: on which request, and for how long.

import { complain, say, send } from "./common.js";

const MARGIN_MS = 1_500; // the clock of the response has whole seconds, and the request takes its time
const LONGEST_QUESTION = 60;

let last = null;

/** The question of a request, short enough for a message. */
export function questionOf(article) {
  const question = article.querySelector("h2").textContent.trim();
  return `“${question.length > LONGEST_QUESTION ? `${question.slice(0, LONGEST_QUESTION).trimEnd()}…` : question}”`;
}

/** Say what was done to a request and offer to undo it; without an end of the time it cannot be undone. */
export function offerUndo({ review, question, words, until, at, run }) {
  last = until ? { review, question, run } : null;
  const forMs = Date.parse(until) - (at || Date.now()) - MARGIN_MS;
  say(`${words}: ${question}`, last && forMs > 0 ? { name: "Undo (u)", about: question, run: undo, forMs } : undefined);
}

/** Undo the last step; a refusal names its request, and that nothing happened to the one that is shown. */
export async function undo() {
  if (!last) {
    say("There is nothing to undo.");
    return;
  }
  const { review, question, run } = last;
  try {
    await send(`/api/reviews/${review}/undo`);
    last = null;
    await run();
    say(`Undone: ${question}`);
  } catch (error) {
    if (error.status) last = null;
    complain(error);
  }
}
