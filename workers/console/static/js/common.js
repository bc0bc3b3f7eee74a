// What every page does: log out, dismiss tooltips, send with the page's token.

export const csrf = document.querySelector('meta[name="csrf-token"]')?.content ?? "";

/** Say something to everybody, also to those who do not see it. */
export function say(text, action) {
  const status = document.getElementById("status");
  status.replaceChildren(document.createTextNode(text));
  if (action) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = action.name;
    button.addEventListener("click", action.run);
    status.append(button);
  }
}

/** Send JSON and read the whole answer; a refusal is thrown as an error with its problem document. */
export async function send(path, body, options = {}) {
  const response = await fetch(path, {
    method: options.method ?? "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
    body: body === undefined ? undefined : JSON.stringify(body),
    keepalive: options.keepalive ?? false,
  });
  const text = await response.text();
  if (!response.ok) {
    const problem = problemOf(text);
    const error = new Error(problem.detail || `the console answered ${response.status}`);
    error.status = response.status;
    error.problem = problem;
    throw error;
  }
  return { status: response.status, text };
}

function problemOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** HTML of the console's own templates as nodes; scripts in it would not run. */
export function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html").body.childNodes;
}

document.getElementById("log-out")?.addEventListener("click", async () => {
  await send("/api/session", undefined, { method: "DELETE" }).catch(() => {});
  location.assign("/login");
});

// A tooltip goes with Escape and comes back with the next hover or focus (WCAG 1.4.13).
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    document.querySelectorAll(".cited:hover, .cited:focus-within").forEach((each) => each.classList.add("dismissed"));
  }
});
for (const name of ["mouseleave", "focusout"]) {
  document.addEventListener(name, (event) => event.target.closest?.(".cited")?.classList.remove("dismissed"), true);
}

// A tooltip near the edge of the window moves inside it.
for (const name of ["mouseenter", "focusin"]) {
  document.addEventListener(name, (event) => {
    const tip = event.target.closest?.(".cited")?.querySelector(".tip");
    if (!tip) return;
    tip.style.translate = "none";
    const { left, right } = tip.getBoundingClientRect();
    const beyond = right - (document.documentElement.clientWidth - 8);
    // A tooltip of a text from right to left reaches to the left.
    if (left < 8) tip.style.translate = `${8 - left}px`;
    else if (beyond > 0) tip.style.translate = `${-beyond}px`;
  }, true);
}
