// What every page does: log out, dismiss tooltips, send with the page's token.

// A link with a token that names a page: without a session the server has led to the log-in, which returns there.
if (location.pathname !== "/login" && new URLSearchParams(location.hash.slice(1)).has("token")) {
  location.replace(`/login?${new URLSearchParams({ next: location.pathname + location.search })}${location.hash}`);
}

export const csrf = document.querySelector('meta[name="csrf-token"]')?.content ?? "";

/** Whether the window is that of a phone: messages name no keys there. */
export const small = matchMedia("(max-width: 56rem)");

const status = document.getElementById("status");
const SHOWN_MS = 8_000; // for what went well; an error stays until the next message or until it is closed
const SLOW_MS = 3_000;
const WAITING = "The console has not answered yet; still waiting.";
let hiding = 0;

/** A button that does something, with the seconds that are left for it. */
export function buttonFor({ name, about, run, until }) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = name;
  if (about) button.setAttribute("aria-label", `${name}: ${about}`);
  if (until) countDown(button, until);
  button.addEventListener("click", run);
  return button;
}

/** Show on a button how many seconds are left; screen readers are not interrupted each second. */
function countDown(button, until) {
  const left = document.createElement("span");
  left.className = "countdown";
  left.setAttribute("aria-hidden", "true");
  const tick = () => (left.textContent = ` ${Math.max(0, Math.ceil((until - Date.now()) / 1000))} s`);
  const timer = setInterval(() => (button.isConnected ? tick() : clearInterval(timer)), 200);
  button.append(left);
  tick();
}

/** A message as a sentence; the name of a person at its beginning stays as it is. */
const sentence = (text, name) => (name && text.startsWith(name) ? text : text.charAt(0).toUpperCase() + text.slice(1));

function show(text, actions, isError) {
  clearTimeout(hiding);
  status.classList.toggle("error", isError);
  status.setAttribute("aria-live", isError ? "assertive" : "polite");
  const words = document.createElement("span");
  words.textContent = text;
  status.replaceChildren(words, ...actions.map(buttonFor));
}

/** Report what went well; an action is offered for the time that it is possible, and its button counts down. */
export function say(text, action, forMs = action?.forMs ?? SHOWN_MS) {
  show(sentence(text), action ? [{ ...action, until: action.forMs && Date.now() + action.forMs }] : [], false);
  hiding = setTimeout(() => status.replaceChildren(...status.querySelectorAll(".waiting")), forMs);
}

/** Report an error, with the way to log in again if the session has ended, else with an action if one is given. */
export function complain(error, action) {
  const close = { name: "Close", run: () => status.replaceChildren() };
  const here = location.pathname + location.search;
  const logIn = { name: "Log in again", run: () => location.assign(`/login?${new URLSearchParams({ next: here })}`) };
  if (error.status === 401) show("Your session has ended. What you typed is still here.", [logIn, close], true);
  else show(error.status ? sentence(error.message, error.problem?.who) : "The console does not answer. Try again in a moment.", action ? [action, close] : [close], true);
}

/** Wait for something that somebody waits for; after a while the page says so, below what it says and offers already. */
export async function waitedFor(promise, text = WAITING, afterMs = SLOW_MS) {
  const words = document.createElement("span");
  words.className = "waiting";
  words.textContent = text;
  const slow = setTimeout(() => {
    if (!status.hasChildNodes()) status.classList.remove("error");
    status.append(words);
  }, afterMs);
  try {
    return await promise;
  } finally {
    clearTimeout(slow);
    words.remove();
  }
}

/** Send JSON and read the whole answer; a refusal is thrown as an error with its problem document. What is sent in the background says
 *  nothing while it takes its time. */
export async function send(path, body, options = {}) {
  const request = fetch(path, {
    method: options.method ?? "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
    body: body === undefined ? undefined : JSON.stringify(body),
    keepalive: options.keepalive ?? false,
  });
  const response = await (options.background ? request : waitedFor(request));
  const text = await response.text();
  if (!response.ok) {
    const problem = problemOf(text);
    const error = new Error(wordsOf(problem) || `the console answered ${response.status}`);
    error.status = response.status;
    error.problem = problem;
    throw error;
  }
  return { status: response.status, text, at: Date.parse(response.headers.get("Date")) };
}

/** Words of a problem for people: what is wrong with its fields, without the names of fields, which are for programs. */
function wordsOf({ detail, fields }) {
  if (detail?.endsWith("see fields")) return fields.map(({ message }) => message.replace("Value error, ", "")).join("; ");
  return detail?.replace(`${fields?.[0]?.field}: `, "");
}

function problemOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

// A page that takes long to come says so on the page that is left.
addEventListener("beforeunload", () => {
  setTimeout(() => say(WAITING), SLOW_MS);
});

/** The reason in a field: the code of a usual one, which is offered in words, and any other as it is; null without one. */
export function reasonOf(field) {
  const given = field.value.trim();
  return [...field.list.options].find((usual) => usual.value === given)?.dataset.code ?? (given || null);
}

/** HTML of the console's own templates as nodes; scripts in it would not run. */
export function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html").body.childNodes;
}

// Links to the review page and the list lead back to the filters that were used there last in this tab: without them a reviewer of one
// tenant got a request of another one.
const FILTERS = "review-filters";

/** The filters of the review page and the list that were used last, as the query part of an address. */
export const keptFilters = () => sessionStorage.getItem(FILTERS) ?? "";

function leadToFilters() {
  for (const link of document.querySelectorAll(":is(.bar nav, #backlog) :is([href^='/review'], [href^='/queue'])")) link.setAttribute("href", link.pathname + keptFilters());
}

/** Keep filters for the links of this page and the next ones. */
export function keepFilters(search) {
  sessionStorage.setItem(FILTERS, search);
  leadToFilters();
}
leadToFilters();

const parting = []; // what is done before the session ends

/** Do something before a log-out ends the session: what a page sends when it is left comes too late for it. */
export const beforeLogOut = (run) => parting.push(run);

document.getElementById("log-out")?.addEventListener("click", async () => {
  await Promise.allSettled(parting.map((run) => run()));
  await send("/api/session", undefined, { method: "DELETE" }).catch(() => {});
  addEventListener("pagehide", () => sessionStorage.clear()); // behind what the page keeps when it is left
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

// What was decided on a page before can be undone from here as well.
if (sessionStorage.getItem("undoable-steps")) import("./undo.js").then(({ offerLeft }) => offerLeft());
