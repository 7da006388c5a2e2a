// Light and dark: the system's choice unless the reader made one; colours live in the style sheet.

const COLOURS = 6;

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function detectorColour(index) {
  return colour(`detector-${index % COLOURS}`);
}

export function detectorVariable(index) {
  return `var(--detector-${index % COLOURS})`;
}

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function onThemeChange(act) {
  const toggle = document.getElementById("theme");
  const changed = () => {
    toggle.setAttribute("aria-pressed", String(isDark()));
    act();
  };
  toggle.setAttribute("aria-pressed", String(isDark()));
  toggle.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  // Paper is white, whatever the screen is.
  let before = "";
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme || "";
    document.documentElement.dataset.theme = "light";
    changed();
  });
  addEventListener("afterprint", () => {
    if (before) document.documentElement.dataset.theme = before;
    else delete document.documentElement.dataset.theme;
    changed();
  });
}
