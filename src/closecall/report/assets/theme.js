// Light and dark: the system's choice unless the reader made one; colours live in style sheets.

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

// The sheet of dark colours applies where its media query says so.
const sheet = () => document.getElementById("dark");

export function isDark() {
  return matchMedia(sheet().media).matches;
}

export function onThemeChange(act) {
  const toggle = document.getElementById("theme");
  const show = () => toggle.setAttribute("aria-pressed", String(isDark()));
  const changed = () => {
    show();
    act();
  };
  const choose = (media) => {
    sheet().media = media;
    changed();
  };
  show();
  toggle.addEventListener("click", () => choose(isDark() ? "not all" : "all"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  // Paper is white, whatever the screen is.
  let before;
  addEventListener("beforeprint", () => {
    before = sheet().media;
    choose("not all");
  });
  addEventListener("afterprint", () => choose(before));
}
