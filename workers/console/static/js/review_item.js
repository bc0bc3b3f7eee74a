// The request that the review page shows.

import { keepDraft } from "./drafts.js";

export const holder = document.getElementById("review-item");
export const item = () => holder.querySelector("[data-review]");

/** A request in a few words, for a message. */
export const nameOf = (article) => article.dataset.name;

/** Whether the request that is shown waits for a decision: a decided one is only shown. */
export const isOpen = () => item() !== null && item().dataset.closed === undefined;

export const buttonOf = (action) => holder.querySelector(`[data-action="${action}"]`);

/** Keep what is typed and chosen for the request. */
export const keep = () => keepDraft(holder, item().dataset.review);
