// While a reply is awaited that may replace what the page shows, that part of the page is off: no key, button or field of it acts.

import { say } from "./common.js";

const UNTIL_NEXT_MS = 2 ** 31 - 1;
const part = document.getElementById("review-item") ?? document.getElementById("main");

/** Whether the page waits for a reply that may replace what it shows. */
export const isOff = () => part.inert;

let on = 0;
let wanted = null;

/** When the part was turned on for the last time, as events count. */
export const onSince = () => on;

/** Turn the part on: what replaces it is there. */
export function turnOn() {
  if (isOff()) on = performance.now();
  part.inert = false;
}

/** Focus an element of the part, once the part is on: what is off takes no focus. */
export function focusWhenOn(element) {
  if (isOff()) wanted = element;
  else element.focus();
}

let awaited = ""; // what is said to be on its way

/** Say that what is on its way cannot be undone before it has arrived. */
export const sayTooEarly = () => say(`${awaited} It cannot be undone before it has arrived; press u then.`, undefined, UNTIL_NEXT_MS);

/** Do something with the part turned off, and say so if words are given; the focus comes back unless it went elsewhere. */
export async function whileOff(words, act) {
  const focused = document.activeElement;
  if (part.contains(focused)) focused.blur();
  part.inert = true;
  awaited = words;
  if (words) say(words, undefined, UNTIL_NEXT_MS);
  try {
    return await act();
  } finally {
    turnOn();
    if (wanted?.isConnected) wanted.focus();
    else if (document.activeElement === document.body && focused?.isConnected) focused.focus({ preventScroll: true });
    wanted = null;
  }
}
