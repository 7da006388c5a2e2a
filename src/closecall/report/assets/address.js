// What is chosen as text: in the fragment of the page's address, and as a call that computes it again.

import { make } from "./dom.js";
import { thresholdText } from "./predict.js";

const KEYS = ["series", "detector", "threshold", "event"];

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

// The parts of a fragment by key, each a list; null for what is no address of this page.
export function readFragment(fragment) {
  const found = { series: [], detector: [], threshold: [], event: [] };
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const [, key, value] = /^(\w+)=(.+)$/.exec(part) || [];
    const text = KEYS.includes(key) ? decoded(value) : null;
    if (text === null) return null;
    found[key].push(text);
  }
  return found;
}

const numberOf = (text) => ({ inf: Infinity, "-inf": -Infinity })[text] ?? (/^[-+\d.e]+$/i.test(text) ? Number(text) : NaN);

// The detector, thresholds and event that a fragment names; what this series does not have is left out.
export function chosenBy({ detector, threshold, event }, series) {
  const named = (name) => series.detectors.findIndex((one) => one.name === name);
  const active = named(detector[0]);
  const thresholds = new Map();
  for (const text of threshold) {
    const cut = text.lastIndexOf("=");
    const index = cut < 0 ? active : named(text.slice(0, cut));
    const value = numberOf(text.slice(cut + 1));
    if (series.detectors[index]?.scores && !Number.isNaN(value)) thresholds.set(index, value);
  }
  const number = /^\d+$/.test(event[0]) ? Number(event[0]) : 0;
  return { active: active < 0 ? null : active, thresholds, selected: number >= 1 && number <= series.truth.starts.length ? number - 1 : null };
}

// What a view shows, if it is not how it opened; thresholds as the command line writes them.
export function fragmentOf(view, opening) {
  const { detectors } = view.series;
  const moved = detectors.map((_, index) => index).filter((index) => detectors[index].scores && view.thresholds[index] !== opening.thresholds[index]);
  if (view.active === opening.active && !moved.length && view.selected === null) return "";
  const text = (index) => thresholdText(detectors[index], view.thresholds[index]);
  const parts = [`detector=${encodeURIComponent(detectors[view.active].name)}`];
  if (detectors[view.active].scores) parts.push(`threshold=${text(view.active)}`);
  for (const index of moved) {
    if (index !== view.active) parts.push(`threshold=${encodeURIComponent(detectors[index].name)}=${text(index)}`);
  }
  if (view.selected !== null) parts.push(`event=${view.selected + 1}`);
  return parts.join("&");
}

// The command, or the call of Python, that computes what is shown of the active detector.
export function commandOf(view) {
  const detector = view.series.detectors[view.active];
  const { language, before, after } = detector.call;
  if (!detector.scores) return before + after;
  const text = thresholdText(detector, view.thresholds[view.active]);
  return before + (language === "python" && text.endsWith("inf") ? `float("${text}")` : text) + after;
}

// A button that copies it, and shows it: some browsers do not let a page copy.
export class CopyCommand {
  constructor(view) {
    this.view = view;
    this.shown = make("output", { class: "command", hidden: true });
    const python = view.series.detectors.some(({ call }) => call?.language === "python");
    this.element = make("button", { type: "button", class: "more copy", title: "the line that computes what is shown of this detector", click: () => this.copy() }, python ? "Copy as Python" : "Copy as command");
  }

  async copy() {
    const text = commandOf(this.view);
    const signed = `${text}\n# the page's signature: ${this.view.series.signature}\n`;
    let said = "Copied:";
    try {
      await navigator.clipboard.writeText(signed);
    } catch {
      said = "To copy:";
    }
    this.shown.replaceChildren(`${said} `, make("code", {}, text));
    this.shown.hidden = false;
  }

  // What was copied is no longer what is shown.
  refresh() {
    this.shown.hidden = true;
    this.element.hidden = !this.view.series.detectors[this.view.active].call;
  }
}
