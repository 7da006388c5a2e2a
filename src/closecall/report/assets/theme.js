// Light and dark: the system's choice unless the reader made one; colours live in style sheets.

const COLOURS = 12;
const HUES = 6; // the second half has their shades, and dashed lines

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function detectorColour(index) {
  return colour(`detector-${index % COLOURS}`);
}

export function detectorVariable(index) {
  return `var(--detector-${index % COLOURS})`;
}

export function detectorDash(index) {
  return index % COLOURS < HUES ? "solid" : "5px 2px";
}

// The sheet of dark colours applies where its media query says so.
const sheet = () => document.getElementById("dark");

function isDark() {
  return matchMedia(sheet().media).matches;
}

// Another sheet of dark colours for a while; gives the one before.
function exchangeDark(media) {
  const before = sheet().media;
  sheet().media = media;
  return before;
}

export function onThemeChange(act) {
  const toggle = document.getElementById("theme");
  const show = () => toggle.setAttribute("aria-pressed", String(isDark()));
  const changed = () => {
    show();
    act();
  };
  const choose = (media) => {
    exchangeDark(media);
    changed();
  };
  show();
  toggle.addEventListener("click", () => choose(isDark() ? "not all" : "all"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

// Printing: the page is laid out as wide as paper, light, and drawn anew before it is printed.
const page = document.documentElement.classList;

export const isPrinting = () => page.contains("printing");

const paper = () => document.getElementById("paper");

// Browsers tell of printing by an event, by a change of the medium, or by both.
export function onPaper(act) {
  let dark;
  const begin = () => {
    if (isPrinting()) return;
    page.add("printing");
    dark = exchangeDark("not all"); // paper is white, whatever the screen is
    paper().media = "all";
    act();
  };
  const end = () => {
    if (!isPrinting()) return;
    page.remove("printing");
    exchangeDark(dark);
    paper().media = "print";
    act();
  };
  addEventListener("beforeprint", begin);
  addEventListener("afterprint", end);
  matchMedia("print").addEventListener("change", ({ matches }) => (matches ? begin() : end()));
}
