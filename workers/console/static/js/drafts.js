// What a reviewer has typed and chosen for a request, kept in this tab until another request was decided after it.

import { active } from "./active_time.js";

const FIELDS = ["corrected", "comment", "decision-reason", "escalation-reason"];
const PREFIX = "draft:";
const MOST = 20;

const keyOf = (review) => PREFIX + review;

/** The draft of a request, or null. */
export const draftOf = (review) => JSON.parse(sessionStorage.getItem(keyOf(review)) ?? "null");

/** Keep what is typed and chosen now, with the active time; without the correction where it was discarded. */
export function keepDraft(root, review, withCorrection = true) {
  active.count();
  const fields = FIELDS.filter((name) => withCorrection || name !== "corrected");
  const draft = {
    at: Date.now(),
    seconds: active.seconds,
    saidFor: root.querySelector("[data-review]").dataset.saidFor,
    texts: Object.fromEntries(fields.map((name) => [name, root.querySelector(`#${name}`)]).filter(([, field]) => field && field.value !== field.defaultValue).map(([name, field]) => [name, field.value])),
    verdicts: Object.fromEntries([...root.querySelectorAll("[data-verdict]:checked")].map((each) => [each.dataset.verdict, each.value])),
  };
  // Where there are too many, those that hold nothing but time go first.
  if (!Object.keys(draft.texts).length && !Object.keys(draft.verdicts).length) draft.at = 0;
  sessionStorage.setItem(keyOf(review), JSON.stringify(draft));
  const kept = Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
  kept.sort((one, other) => JSON.parse(sessionStorage.getItem(one)).at - JSON.parse(sessionStorage.getItem(other)).at);
  for (const key of kept.slice(0, Math.max(0, kept.length - MOST))) sessionStorage.removeItem(key);
}

/** Write a draft into the fields of its request. */
export function writeDraft(root, { texts, verdicts, saidFor }) {
  if (saidFor) root.querySelector("[data-review]").dataset.saidFor = saidFor;
  for (const [name, text] of Object.entries(texts)) {
    const field = root.querySelector(`#${name}`);
    if (field) field.value = text;
  }
  for (const each of root.querySelectorAll("[data-verdict]")) each.checked = verdicts[each.dataset.verdict] === each.value;
}
