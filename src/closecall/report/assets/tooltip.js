// One tooltip for the whole page, beside the pointer and inside the window.

import { make } from "./dom.js";

const AWAY = 14;

export function showTooltip(x, y, heading, lines) {
  const box = document.getElementById("tooltip");
  box.replaceChildren(make("strong", {}, heading), ...lines.map(line));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + AWAY + width < innerWidth - 8 ? x + AWAY : Math.max(8, x - AWAY - width);
  const top = Math.min(Math.max(8, y + AWAY), Math.max(8, innerHeight - height - 8));
  box.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}

function line({ text, colour }) {
  const swatch = colour ? [make("i", { class: "swatch", style: `--swatch: ${colour}` })] : [];
  return make("span", { class: "tooltip-line" }, ...swatch, text);
}

export function hideTooltip() {
  document.getElementById("tooltip").hidden = true;
}
