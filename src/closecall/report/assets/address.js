// What is chosen as text: in the fragment of the page's address, and as a call that computes it again.

import { make } from "./dom.js";
import { thresholdText } from "./predict.js";

// The limits are as they are written beside the slider, and the window is in offsets of the clock.
const LIMITS = ["maxAlarms", "maxFalseAlarms", "per", "cooldown", "minPrecision", "minRecall", "maxAlarmed"];
const KEYS = ["series", "detector", "threshold", "event", "window", ...LIMITS];
const LONGEST = 20; // letters of a limit
const DIGITS = 3; // of the length of a window, to which its ends are rounded

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

// The parts of a fragment by key, each a list; null for what is no address of this page.
export function readFragment(fragment) {
  const found = Object.fromEntries(KEYS.map((key) => [key, []]));
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const [, key, value] = /^(\w+)=(.+)$/.exec(part) || [];
    const text = KEYS.includes(key) ? decoded(value) : null;
    if (text === null) return null;
    found[key].push(text);
  }
  return found;
}

const numberOf = (text) => ({ inf: Infinity, "-inf": -Infinity })[text] ?? (/^[-+\d.e]+$/i.test(text) ? Number(text) : NaN);

// A window of the timeline; null for what is none.
function windowOf(text) {
  const [from, to, more] = (text ?? "").split(",").map(numberOf);
  return from < to && to - from < Infinity && more === undefined ? [from, to] : null;
}

function windowText([from, to]) {
  const step = 10 ** (Math.floor(Math.log10(to - from)) - DIGITS);
  return [from, to].map((end) => Number((Math.round(end / step) * step).toPrecision(15))).join();
}

// What a fragment names; what this series does not have is left out.
export function chosenBy(named, series) {
  const { detector, threshold, event } = named;
  const indexOf = (name) => series.detectors.findIndex((one) => one.name === name);
  const active = indexOf(detector[0]);
  const thresholds = new Map();
  for (const text of threshold) {
    const cut = text.lastIndexOf("=");
    const index = cut < 0 ? active : indexOf(text.slice(0, cut));
    const value = numberOf(text.slice(cut + 1));
    if (series.detectors[index]?.scores && !Number.isNaN(value)) thresholds.set(index, value);
  }
  const number = /^\d+$/.test(event[0]) ? Number(event[0]) : 0;
  const limits = Object.fromEntries(LIMITS.map((name) => [name, named[name][0]]).filter(([, text]) => text && text.length <= LONGEST));
  return {
    active: active < 0 ? null : active, thresholds, limits, shown: windowOf(named.window[0]),
    selected: number >= 1 && number <= series.truth.starts.length ? number - 1 : null,
  };
}

// What a view shows, if it is not how it opened; thresholds as the command line writes them.
export function fragmentOf(view, opening) {
  const { detectors } = view.series;
  const moved = detectors.map((_, index) => index).filter((index) => detectors[index].scores && view.thresholds[index] !== opening.thresholds[index]);
  const limits = Object.entries(view.slider.limits.texts);
  const { window, usual } = view.timeline;
  const zoomed = window.some((end, k) => end !== usual[k]);
  if (view.active === opening.active && !moved.length && view.selected === null && !limits.length && !zoomed) return "";
  const text = (index) => thresholdText(detectors[index], view.thresholds[index]);
  const parts = [`detector=${encodeURIComponent(detectors[view.active].name)}`];
  if (detectors[view.active].scores) parts.push(`threshold=${text(view.active)}`);
  for (const index of moved) {
    if (index !== view.active) parts.push(`threshold=${encodeURIComponent(detectors[index].name)}=${text(index)}`);
  }
  parts.push(...limits.map(([name, text]) => `${name}=${encodeURIComponent(text)}`));
  if (view.selected !== null) parts.push(`event=${view.selected + 1}`);
  if (zoomed) parts.push(`window=${windowText(window)}`);
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
