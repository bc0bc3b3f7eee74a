// Logs in with the token of the form, or of the link that the console printed (behind #, which is never sent).

const form = document.getElementById("log-in");
const problem = document.getElementById("log-in-problem");

/** Where to go: a path of this site and nothing else. */
function target() {
  const wanted = new URLSearchParams(location.search).get("next") ?? "/";
  const address = new URL(wanted, location.origin);
  return address.origin === location.origin && wanted.startsWith("/") ? address.pathname + address.search : "/";
}

async function logIn(token, options = {}) {
  const response = await fetch("/api/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token, ...options }),
  });
  if (response.ok) {
    location.replace(target());
  } else {
    const told = await response.json().catch(() => ({}));
    problem.textContent = told.detail ?? "That did not work.";
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  logIn(form.elements.token.value);
});

for (const control of form.elements) {
  control.disabled = false;
}

const linked = new URLSearchParams(location.hash.slice(1)).get("token");
if (linked) {
  history.replaceState(null, "", location.pathname + location.search);
  // A link must not replace the session of somebody else silently: the form, with its token, asks.
  form.elements.token.value = linked;
  logIn(linked, { switch: false });
}
