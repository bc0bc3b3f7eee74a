// Colours and density that this browser has chosen; applied before the page is drawn, so it is not in a module.

(() => {
  const root = document.documentElement;
  const THEMES = ["system", "light", "dark"];
  const chosen = (name, usual) => {
    try {
      return localStorage.getItem(name) ?? usual;
    } catch {
      return usual; // the browser stores nothing
    }
  };
  const keep = (name, value) => {
    try {
      localStorage.setItem(name, value);
    } catch {
      // It holds for this page.
    }
  };
  root.dataset.theme = THEMES.includes(chosen("theme")) ? chosen("theme") : "system";
  root.dataset.density = chosen("density") === "compact" ? "compact" : "normal";

  function show() {
    document.querySelector('[data-shown="theme"]').textContent = root.dataset.theme;
    document.getElementById("density").setAttribute("aria-pressed", String(root.dataset.density === "compact"));
  }

  document.addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById("theme").addEventListener("click", () => {
      root.dataset.theme = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
      keep("theme", root.dataset.theme);
      show();
      dispatchEvent(new Event("appearance"));
    });
    document.getElementById("density").addEventListener("click", () => {
      root.dataset.density = root.dataset.density === "compact" ? "normal" : "compact";
      keep("density", root.dataset.density);
      show();
    });
  });
})();
