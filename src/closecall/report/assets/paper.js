// Printing: the page is laid out as wide as paper, light, and drawn anew before it is printed.

import { exchangeDark } from "./theme.js";

const page = document.documentElement.classList;

export const isPrinting = () => page.contains("printing");

const sheet = () => document.getElementById("paper");

// Browsers tell of printing by an event, by a change of the medium, or by both.
export function onPaper(act) {
  let dark;
  const begin = () => {
    if (isPrinting()) return;
    page.add("printing");
    dark = exchangeDark("not all"); // paper is white, whatever the screen is
    sheet().media = "all";
    act();
  };
  const end = () => {
    if (!isPrinting()) return;
    page.remove("printing");
    exchangeDark(dark);
    sheet().media = "print";
    act();
  };
  addEventListener("beforeprint", begin);
  addEventListener("afterprint", end);
  matchMedia("print").addEventListener("change", ({ matches }) => (matches ? begin() : end()));
}
