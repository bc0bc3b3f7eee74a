// Filters of the queue, saved by name in this browser. An address with filters is what a team shares.

import { say } from "./common.js";

const KEY = "saved-filters";

const saved = () => JSON.parse(localStorage.getItem(KEY) ?? "{}");

/** The filters of a form as the query part of an address, without those that filter nothing. */
export function addressOf(form) {
  return new URLSearchParams([...new FormData(form)].filter(([name, value]) => value !== "" && `${name}=${value}` !== "state=open")).toString();
}

function wire(box, form) {
  const names = box.querySelector("[data-saved-names]");
  const name = box.querySelector("[data-saved-name]");
  let replacing = ""; // the name that the next save replaces
  const list = () => {
    const options = Object.keys(saved()).sort().map((each) => new Option(each, each));
    names.replaceChildren(new Option("choose", ""), ...options);
  };
  const save = () => {
    const given = name.value.trim();
    if (!given) return name.focus();
    const [before, now] = [saved()[given], addressOf(form)];
    if (before !== undefined && before !== now && replacing !== given) {
      replacing = given;
      return say(`“${given}” exists with other filters. Save again to replace it.`);
    }
    replacing = "";
    localStorage.setItem(KEY, JSON.stringify({ ...saved(), [given]: now }));
    list();
    names.value = given;
    say(`Saved: “${given}”, in this browser.`);
  };
  // A button opens them: the arrow keys choose a name, and each step through the names would load a page.
  box.querySelector('[data-saved-action="open"]').addEventListener("click", () => {
    if (!names.value) return names.focus();
    location.assign(`${form.dataset.address ?? location.pathname.replace(/^\/review\/.*/, "/review")}?${saved()[names.value]}`);
  });
  box.querySelector('[data-saved-action="save"]').addEventListener("click", save);
  name.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) save();
  });
  box.querySelector('[data-saved-action="delete"]').addEventListener("click", () => {
    const given = names.value || name.value.trim();
    const { [given]: deleted, ...rest } = saved();
    if (deleted === undefined) return names.focus();
    localStorage.setItem(KEY, JSON.stringify(rest));
    list();
    say(`Deleted: “${given}”.`);
  });
  list();
}

const form = document.getElementById("queue-filters");
for (const box of document.querySelectorAll("[data-saved-filters]")) wire(box, form);
