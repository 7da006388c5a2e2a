// A table that may be wider than its place: shadows say where there is more of it.

import { make, toggleAttribute } from "./dom.js";

export function sideways(table, label) {
  const box = make("div", { class: "scroll" }, table);
  const element = make("div", { class: "scrolling" }, box);
  const show = () => {
    const hidden = box.scrollWidth - box.clientWidth;
    element.classList.toggle("more-left", box.scrollLeft > 1);
    element.classList.toggle("more-right", box.scrollLeft < hidden - 1);
    // Arrow keys scroll what has the focus.
    toggleAttribute(box, "tabindex", hidden > 1, "0");
    toggleAttribute(box, "role", hidden > 1, "region");
    toggleAttribute(box, "aria-label", hidden > 1, `${label}, scrolls sideways`);
  };
  box.addEventListener("scroll", show, { passive: true });
  const observer = new ResizeObserver(show);
  observer.observe(box);
  observer.observe(table);
  return element;
}
