// Filters of the queue, saved by name in this browser. An address with filters is what a team shares.

const KEY = "saved-filters";

const saved = () => JSON.parse(localStorage.getItem(KEY) ?? "{}");

/** The filters of a form as the query part of an address, without those that filter nothing. */
export function addressOf(form) {
  return new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "" && value !== "open")).toString();
}

function wire(box, form) {
  const names = box.querySelector("[data-saved-names]");
  const name = box.querySelector("[data-saved-name]");
  const list = () => {
    const options = Object.keys(saved()).sort().map((each) => new Option(each, each));
    names.replaceChildren(new Option("choose", ""), ...options);
  };
  names.addEventListener("change", () => {
    if (names.value) location.assign(`${form.dataset.address ?? location.pathname.replace(/^\/review\/.*/, "/review")}?${saved()[names.value]}`);
  });
  box.querySelector('[data-saved-action="save"]').addEventListener("click", () => {
    if (!name.value.trim()) return name.focus();
    localStorage.setItem(KEY, JSON.stringify({ ...saved(), [name.value.trim()]: addressOf(form) }));
    list();
    names.value = name.value.trim();
  });
  box.querySelector('[data-saved-action="delete"]').addEventListener("click", () => {
    const { [names.value || name.value.trim()]: _, ...rest } = saved();
    localStorage.setItem(KEY, JSON.stringify(rest));
    list();
  });
  list();
}

const form = document.getElementById("queue-filters");
for (const box of document.querySelectorAll("[data-saved-filters]")) wire(box, form);
