// Single-key shortcuts: where a key counts, and the switch that turns them off.

const keysOn = document.getElementById("keys-on");
keysOn.checked = localStorage.getItem("review-keys") !== "off";
keysOn.addEventListener("change", () => localStorage.setItem("review-keys", keysOn.checked ? "on" : "off"));

/** The field in which a key is typed, if any. */
export const fieldOf = (event) => event.target.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select");

/** Whether a key is a shortcut: it is typed into no field and no dialog, without modifiers, and shortcuts are on. */
export const isShortcut = (event) =>
  keysOn.checked && !fieldOf(event) && !document.querySelector("dialog[open]") && !event.ctrlKey && !event.metaKey && !event.altKey;
