// Second opinions on a decided request: ask a person or anyone, and take it back.

import { complain, say, send } from "./common.js";
import { holder, item } from "./review_item.js";
import { focusWhenOn, whileOff } from "./waiting.js";

const address = () => `/api/reviews/${encodeURIComponent(item().dataset.review)}/opinion`;

async function ask() {
  const field = document.getElementById("opinion-person");
  const [chosen] = field.selectedOptions;
  try {
    await send(address(), { person: chosen.value || null });
    const line = document.getElementById("asked-opinion").content.firstElementChild.cloneNode(true);
    line.dataset.opinion = chosen.value;
    line.querySelector("[data-person]").textContent = chosen.textContent;
    const list = document.getElementById("asked-opinions");
    list.querySelector(`[data-opinion="${CSS.escape(chosen.value)}"]`)?.remove();
    list.append(line);
    say(`Second opinion asked of ${chosen.textContent}.`);
  } catch (error) {
    complain(error);
  }
}

async function end(line) {
  try {
    await send(`${address()}?${new URLSearchParams({ person: line.dataset.opinion })}`, undefined, { method: "DELETE" });
    line.remove();
    focusWhenOn(document.getElementById("opinion-person"));
    say("The second opinion is no longer asked for.");
  } catch (error) {
    complain(error);
  }
}

holder.addEventListener("click", ({ target }) => {
  const line = target.closest("[data-end-opinion]")?.closest("[data-opinion]");
  if (target.closest("[data-ask-opinion]")) whileOff("", ask);
  else if (line) whileOff("", () => end(line));
});
