// The detectors, a row each with what they caught and their scores; under them the threshold of the
// active one, and the limits within which the best is looked for.

import { make, nameParts, setName, setText, sideways, toggleAttribute } from "./dom.js";
import { neighbour, thresholdText } from "./predict.js";
import { OUTCOMES } from "./score.js";
import { detectorVariable } from "./theme.js";
import { keepsLimits } from "./thresholds.js";
import { counted, falseAlarmsOf, headlineOf, readLength, scoreText } from "./words.js";

export const MOST_ROWS = 4; // of two lines; more detectors are a list
const DIGITS = 3;
const SCORES = [["F1", "f1"], ["precision", "precision"], ["recall", "recall"]];
const AVERAGE = "average precision";
const MEANING = "The mean over shifts of the alarms, or of the events, around the series, whichever is higher.";
const AVERAGE_MEANING = "What the same scores reach on average when they are moved around the series.";

// The list is a table in meaning and on wide windows; on narrow ones its rows become blocks.
const part = (role, attributes, ...children) => make("div", { role, ...attributes }, ...children);

// Three dots until a level is known.
const levelText = (level) => (level === null ? "…" : scoreText(level));

// What is told of a detector under its headline, as sentences.
function noteText(view, index) {
  const detector = view.series.detectors[index];
  const alarms = counted(view.results[index].alarms, "alarm");
  if (!detector.scores) return `${alarms}. It predicts labels, so there is no threshold to move.`;
  const here = `${alarms} at threshold ${thresholdText(detector, view.thresholds[index])}`;
  const best = view.bestOf(index);
  const within = view.limits ? " within the limits" : "";
  if (!best) return `${here}. Its best threshold${within} is being looked for.`;
  if (best.broken) return `${here}. No threshold keeps the limits.`;
  if (!view.isBest(index)) return `${here}. Its best F1${within} is ${scoreText(best.f1, DIGITS)}, at ${thresholdText(detector, best.threshold)}.`;
  if (view.limits) return `${here}, its best F1${within}.`;
  const tuned = Number.isNaN(detector.chanceBest) ? "is left out" : `reaches ${scoreText(detector.chanceBest)}`;
  return `${here}, its best F1; tuned alike, chance ${tuned}.`;
}

// The fate of each event in order, as a small picture: a tall bar was caught, a low one was a close
// call, a cross was missed. Many events share a bar, which is as tall as the share that was caught.
class Spark {
  constructor(events) {
    this.bins = Math.min(events, 36);
    this.step = Math.max(3, Math.min(8, Math.floor(110 / this.bins)));
    const svg = (tag, attributes) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      return element;
    };
    this.element = svg("svg", { class: "spark", width: this.bins * this.step, height: 16, role: "img" });
    this.paths = OUTCOMES.map((name) => svg("path", { class: name.replace(" ", "-") }));
    this.element.append(...this.paths);
  }

  refresh({ outcome }, text) {
    const lines = OUTCOMES.map(() => "");
    for (let bin = 0; bin < this.bins; bin++) {
      const [first, after] = [bin, bin + 1].map((edge) => Math.round((edge * outcome.length) / this.bins));
      const counts = OUTCOMES.map((_, code) => outcome.subarray(first, after).filter((one) => one === code).length);
      const x = bin * this.step;
      const width = this.step - 1;
      const bar = (height) => `M${x} 16v${-height}h${width}v${height}z`;
      if (counts[2]) lines[2] += bar(4 + (12 * counts[2]) / (after - first));
      else if (counts[1]) lines[1] += bar(6);
      if (counts[0]) lines[0] += counts[2] ? `M${x} 16h${width}` : `M${x} 15l${width} -${width}M${x} ${15 - width}l${width} ${width}`;
    }
    this.paths.forEach((path, code) => path.setAttribute("d", lines[code]));
    this.element.setAttribute("aria-label", text);
  }
}

class Row {
  constructor(view, index, compact) {
    this.view = view;
    this.index = index;
    const detector = view.series.detectors[index];
    this.detector = detector;
    const several = view.series.detectors.length > 1;
    this.shown = make("input", { type: "checkbox", "aria-label": `show ${detector.name}`, title: "draw it on the timeline and the curves", change: () => view.show(index, this.shown.checked) });
    this.shown.addEventListener("click", (event) => event.stopPropagation());
    this.name = make("button", { type: "button", class: "name", click: () => view.activate(index) }, ...nameParts(detector.name));
    const who = part("rowheader", { class: "who" }, make("span", {}, ...(several ? [this.shown] : []), make("i", { class: "swatch" }), this.name));
    this.cells = {};
    const number = (name, meaning) => {
      const tuned = name !== AVERAGE; // by the threshold
      const value = make("b", { "data-score": tuned && name });
      const level = make("small", { class: tuned ? "chance" : "average", title: meaning });
      this.cells[name] = { value, level };
      return part("cell", { class: "number", "data-label": name }, value, ...(compact ? [] : [level]));
    };
    const numbers = [...SCORES.map(([name]) => number(name, MEANING)), number(AVERAGE, AVERAGE_MEANING)];
    if (compact) {
      this.spark = new Spark(view.series.truth.starts.length);
      this.caught = part("cell", { class: "number" });
      this.wrong = part("cell", { class: "number wide" });
      numbers.splice(1, 0, part("cell", { class: "number level", title: MEANING }, this.cells.F1.level));
      numbers.slice(2).forEach((cell) => cell.classList.add("wide"));
      this.row = [who, part("cell", { class: "sparks" }, this.spark.element), this.caught, this.wrong, ...numbers];
    } else {
      this.headline = make("p", { class: "headline" });
      this.note = make("p", { class: "note" });
      this.row = [who, part("cell", { class: "told" }, this.headline, this.note), part("cell", { class: "by" }, make("small", { title: MEANING }, "by chance")), ...numbers];
    }
    this.element = part("row", { class: "card", style: `--swatch: ${detectorVariable(index)}`, click: () => view.activate(index) }, ...this.row);
  }

  refresh() {
    const { view, index, detector, cells } = this;
    const [result, levels] = [view.results[index], view.levels[index]];
    for (const [name, key] of SCORES) {
      setText(cells[name].value, scoreText(result[key], DIGITS));
      setText(cells[name].level, levelText(levels && levels[key]));
    }
    const average = detector.averagePrecision ?? NaN; // no threshold changes it
    setText(cells[AVERAGE].value, scoreText(average, DIGITS));
    setText(cells[AVERAGE].level, scoreText(detector.chanceAveragePrecision));
    if (this.spark) {
      const caught = `${result.caught} of ${view.series.truth.starts.length}`;
      setText(this.caught, caught);
      setText(this.wrong, falseAlarmsOf(view.series, result, view.results));
      this.spark.refresh(result.rows, `${caught} events caught`);
    } else {
      setText(this.headline, headlineOf(view.series, result, levels ?? undefined, view.results));
      setText(this.note, noteText(view, index));
    }
    this.element.classList.toggle("active", view.active === index);
    toggleAttribute(this.name, "aria-current", view.active === index);
    this.shown.checked = view.shown.has(index);
    this.element.classList.toggle("off", !view.shown.has(index));
  }
}

export class Detectors {
  constructor(view) {
    this.view = view;
    const { detectors } = view.series;
    this.compact = detectors.length > MOST_ROWS;
    this.rows = detectors.map((_, index) => new Row(view, index, this.compact));
    this.sorting = this.compact ? ["F1", -1] : ["", 1];
    this.head = part("row", { class: "head" });
    this.body = part("rowgroup", { class: "body" });
    const table = part("table", { class: "cards", "aria-label": "detectors" }, part("rowgroup", {}, this.head), this.body);
    const kinds = ["panel detectors", ...(this.compact ? ["compact"] : []), ...(detectors.some(({ scores }) => scores) ? [] : ["labels"])];
    this.element = make("section", { class: kinds.join(" "), "aria-label": "detectors" });
    if (!this.compact) {
      this.element.append(table);
      return;
    }
    this.hidden = make("p", { class: "hint" });
    this.headline = make("p", { class: "headline" });
    this.note = make("p", { class: "note" });
    this.list = sideways(table, "detectors");
    table.style.setProperty("--spark", `${this.rows[0].spark.element.getAttribute("width")}px`);
    this.element.append(this.headline, make("div", { class: "notes" }, this.note, this.hidden), this.list);
  }

  // The columns of the list by which it can be sorted; few detectors stay as they are.
  columns() {
    const { results, levels, series } = this.view;
    const score = ([name, key]) => [name, (index) => results[index][key], "number"];
    const average = [AVERAGE, (index) => series.detectors[index].averagePrecision ?? NaN, "number"];
    if (!this.compact) return [["detector"], ["what it caught", null, "told"], ["", null, "by"], ...[...SCORES.map(score), average].map(([name, , kind]) => [name, null, kind])];
    const falseAlarms = ["false alarms", (index) => results[index].falseAlarms, "number wide"];
    const [f1, ...others] = SCORES.map(score);
    const chance = ["F1 by chance", (index) => levels[index]?.f1 ?? NaN, "number level"];
    return [
      ["detector", (index) => series.detectors[index].name], ["events", null, "sparks"], ["caught", (index) => results[index].caught, "number"], falseAlarms,
      f1, chance, ...[...others, average].map(([name, value]) => [name, value, "number wide"]),
    ];
  }

  sortBy(name) {
    const [before, direction] = this.sorting;
    const first = name === "detector" || name === "false alarms" ? 1 : -1; // what is best is on top
    this.sorting = [name, name === before ? -direction : first];
    this.render();
    this.head.querySelector("[aria-sort] button").focus();
  }

  // The list keeps its order while thresholds move; it is sorted when somebody asks for it.
  render() {
    const columns = this.columns();
    const [sorted, direction] = this.sorting;
    const cells = columns.map(([name, value, kind]) => {
      const arrow = name && name === sorted ? (direction > 0 ? " ▴" : " ▾") : "";
      const order = arrow && (direction > 0 ? "ascending" : "descending");
      const shown = name.replace("average", "avg.");
      const text = value ? make("button", { type: "button", click: () => this.sortBy(name) }, shown + arrow) : shown;
      return part(name ? "columnheader" : "cell", { class: kind, "aria-sort": order || null }, text);
    });
    this.head.replaceChildren(...cells);
    const value = columns.find(([name]) => name === sorted)?.[1];
    const order = this.rows.map((_, index) => index);
    if (value) {
      const rank = (index) => (Number.isNaN(value(index)) ? -Infinity : value(index));
      order.sort((p, q) => (rank(p) === rank(q) ? p - q : direction * (rank(p) < rank(q) ? -1 : 1)));
    }
    this.body.replaceChildren(...order.map((index) => this.rows[index].element));
    for (const note of this.notes()) note.style.minHeight = "";
    this.refresh();
  }

  notes() {
    return this.compact ? [this.note] : this.rows.map((row) => row.note);
  }

  // A note that took two lines keeps them, so that what is below moves at most once.
  holdLines() {
    const heights = this.notes().map((note) => note.offsetHeight);
    this.notes().forEach((note, k) => {
      if (heights[k]) note.style.minHeight = `${heights[k]}px`;
    });
  }

  refresh() {
    for (const row of this.rows) row.refresh();
    if (this.compact) this.tellActive();
    this.holdLines();
  }

  // What is told of the active one above the list, and how many are not drawn.
  tellActive() {
    const { view } = this;
    const { detectors } = view.series;
    setText(this.headline, `${detectors[view.active].name}: ${headlineOf(view.series, view.results[view.active], view.levels[view.active] ?? undefined, view.results)}`);
    setText(this.note, noteText(view, view.active));
    const left = detectors.length - view.shown.size;
    const scrolls = this.list.firstChild.scrollHeight > this.list.firstChild.clientHeight + 1 ? " The list scrolls." : "";
    setText(this.hidden, `${counted(detectors.length, "detector")}, ${left ? `of which ${left} ${left === 1 ? "is" : "are"} not drawn: tick a box to draw one.` : "all drawn."}${scrolls}`);
  }
}

// What is best, or nearest, where it is, and whether that is here.
function bestText(detector, best, atBest, limited) {
  if (!best) return "looking for the best threshold …";
  const place = thresholdText(detector, best.threshold);
  if (best.broken) return `No threshold keeps the limits; the nearest is ${place}${atBest ? " (here)" : ""} with ${best.broken}`;
  return `best F1${limited ? " within the limits" : ""} ${scoreText(best.f1, DIGITS)}${atBest ? " is here" : ` at ${place}`}`;
}

const NUMBER = (text) => (text === "" ? NaN : Number(text));
// What is written before and after each input, and what it is called.
const FIELDS = [
  ["maxAlarms", "at most", "alarms", "at most alarms"], ["maxFalseAlarms", "and", "false alarms", "at most false alarms"], ["per", "per", "", "per"],
  ["cooldown", "closer than", "count once", "closer than count once"], ["minPrecision", "precision ≥", "", "precision at least"],
  ["minRecall", "recall ≥", "", "recall at least"], ["maxAlarmed", "in alarm ≤", "of time", "in alarm at most of the time"],
];
const MOST_ALARMED = "0.5"; // with a budget of alarms, since one endless alarm keeps any budget

// Inputs beside the slider, which hold for every detector; folded where there is no room.
class Limits {
  constructor(view) {
    this.view = view;
    this.inputs = {};
    const fields = FIELDS.map(([name, before, after, label]) => {
      this.inputs[name] = make("input", { type: "text", name, autocomplete: "off", spellcheck: "false", "aria-label": label, change: () => this.read() });
      return make("label", {}, `${before} `, this.inputs[name], after && ` ${after}`);
    });
    const { clock } = view.series;
    this.inputs.per.value = clock.dated ? "day" : "1000";
    this.inputs.cooldown.placeholder = clock.dated ? "30 min" : "10";
    this.usual = Object.fromEntries(Object.entries(this.inputs).map(([name, input]) => [name, input.value]));
    this.problem = make("output", { class: "problem", role: "alert" });
    const form = make("form", { submit: (event) => event.preventDefault() }, ...fields, this.problem);
    const open = matchMedia("(min-width: 901px)").matches;
    this.element = make("details", { class: "limits", open }, make("summary", {}, "Limits on alarms, precision and recall"), form);
  }

  // What is written in the inputs that are not as they were at first, and that is understood.
  get texts() {
    const entries = Object.entries(this.inputs).map(([name, input]) => [name, input.value.trim(), input]);
    return Object.fromEntries(entries.filter(([name, text, input]) => text !== this.usual[name] && text !== "" && input.validity.valid));
  }

  // Write what an address names, and leave out what is not understood.
  write(texts) {
    const before = JSON.stringify(this.texts);
    const set = (wanted) => {
      for (const [name, input] of Object.entries(this.inputs)) input.value = wanted[name] ?? this.usual[name];
      return this.understood();
    };
    let limits = set(texts);
    const known = this.texts;
    if (Object.keys(known).length < Object.keys(texts).length) limits = set(known);
    if (Object.keys(known).length) this.element.open = true;
    if (JSON.stringify(this.texts) !== before) this.view.setLimits(limits);
  }

  read() {
    this.view.setLimits(this.understood());
  }

  // The limits as numbers, null without any; what is not understood is marked, and taken as not said.
  understood() {
    const { clock } = this.view.series;
    const problems = [];
    const value = (name, read, fine, wanted) => {
      const input = this.inputs[name];
      const text = input.value.trim();
      const found = read(text);
      const wrong = text !== "" && !fine(found);
      input.setCustomValidity(wrong ? `Write ${wanted}.` : "");
      if (wrong) problems.push(`“${text}” is not understood: write ${wanted}.`);
      return text === "" || wrong ? undefined : found;
    };
    const offsets = (text) => clock.offsets(readLength(text, clock.dated));
    const period = clock.dated ? "a period of fixed length, such as day, week, 8 h or 30 d" : "a number, such as 1000";
    const per = value("per", offsets, (found) => found > 0, period);
    const atLeastZero = (found) => found >= 0;
    // A count per the period beside it, or a rate such as 2/week.
    const budget = (name) => {
      const rate = (text) => {
        const [count, own] = text.split("/", 2);
        return [NUMBER(count.trim()), own === undefined ? per : offsets(own)];
      };
      const known = ([count, time]) => count >= 0 && (time === undefined || time > 0);
      const found = value(name, rate, known, clock.dated ? "a number, or a rate such as 2/week" : "a number, or a rate such as 2/1000");
      return found === undefined || found[1] === undefined ? undefined : found;
    };
    const share = (name) => value(name, NUMBER, (found) => found >= 0 && found <= 1, "a number from 0 to 1");
    const limits = {
      maxAlarms: budget("maxAlarms"),
      maxFalseAlarms: budget("maxFalseAlarms"),
      cooldown: value("cooldown", offsets, atLeastZero, clock.dated ? "a length of time, such as 30 min" : "a number"),
      maxAlarmed: share("maxAlarmed"),
      minPrecision: share("minPrecision"),
      minRecall: share("minRecall"),
    };
    setText(this.problem, problems.join(" "));
    this.inputs.maxAlarmed.placeholder = limits.maxAlarms || limits.maxFalseAlarms ? MOST_ALARMED : "";
    const any = Object.values(limits).some((limit) => limit !== undefined);
    return any ? limits : null;
  }
}

// The threshold of the active detector: a slider along its curve, single steps, and the number.
export class Slider {
  constructor(view, copy) {
    this.view = view;
    this.range = make("input", { type: "range", id: "threshold-slider", min: "0", step: "1", "aria-label": "threshold", input: () => this.slide() });
    this.number = make("input", { type: "text", inputmode: "decimal", class: "number", "aria-label": "threshold, as a number", spellcheck: "false", autocomplete: "off", change: () => this.type() });
    const step = (direction, label, text) =>
      make("button", { type: "button", "aria-label": label, title: label, click: () => this.step(direction) }, text);
    this.name = make("label", { for: "threshold-slider" });
    this.allowed = make("i", { class: "allowed", title: "thresholds that keep the limits" });
    this.best = make("button", { type: "button", class: "best", click: () => view.toBest(view.active) });
    this.limits = new Limits(view);
    this.element = make(
      "section",
      { class: "panel slider", "aria-label": "threshold" },
      this.name,
      make("span", { class: "choice" }, step(-1, "next lower score: predict more", "−"), this.number, step(1, "next higher score: predict less", "+")),
      make("span", { class: "end" }, "more alarms"),
      make("span", { class: "track" }, this.range, this.allowed),
      make("span", { class: "end" }, "fewer alarms"),
      copy,
      this.best,
      this.limits.element,
    );
  }

  get detector() {
    return this.view.series.detectors[this.view.active];
  }

  // Stops of the slider are exact points of the curve, evenly spread along it.
  slide() {
    const { thresholds } = this.detector.curve;
    this.view.setThreshold(this.view.active, thresholds[thresholds.length - 1 - Number(this.range.value)]);
  }

  step(direction) {
    this.view.setThreshold(this.view.active, neighbour(this.detector, this.view.thresholds[this.view.active], direction));
  }

  type() {
    const text = this.number.value.trim().toLowerCase();
    const infinite = { inf: Infinity, "+inf": Infinity, "-inf": -Infinity }[text];
    const threshold = infinite ?? (text === "" ? NaN : Number(text));
    if (Number.isNaN(threshold)) this.refresh();
    else this.view.setThreshold(this.view.active, threshold);
  }

  // The stop whose threshold is the highest that is not above the present one.
  position(threshold) {
    const { thresholds } = this.detector.curve;
    const at = thresholds.findIndex((one) => one <= threshold);
    return thresholds.length - 1 - (at < 0 ? thresholds.length - 1 : at);
  }

  // The part of the slider that keeps the limits, as runs of its stops from left to right.
  allow(best) {
    const limited = Boolean(this.view.limits && best);
    this.allowed.hidden = !limited;
    if (!limited || this.painted === best) return;
    this.painted = best;
    const stops = this.detector.curve.thresholds;
    const runs = [];
    for (let k = 0; k < stops.length; k++) {
      if (!keepsLimits(this.detector, best, stops[stops.length - 1 - k])) continue;
      if (runs.length && runs.at(-1)[1] === k) runs.at(-1)[1] = k + 1;
      else runs.push([k, k + 1]);
    }
    const share = (k) => `${(100 * Math.min(Math.max(k - 0.5, 0), stops.length - 1)) / Math.max(stops.length - 1, 1)}%`;
    const parts = runs.map(([from, to]) => `transparent ${share(from)}, var(--allowed) ${share(from)} ${share(to)}, transparent ${share(to)}`);
    this.allowed.style.background = `linear-gradient(to right, ${[...parts, "transparent 0"].join(", ")})`;
  }

  refresh() {
    const { detector, view } = this;
    const scored = Boolean(detector.scores);
    this.element.classList.toggle("without", !scored);
    for (const control of this.element.querySelectorAll("input, button:not(.copy)")) control.disabled = !scored;
    this.element.style.setProperty("--swatch", detectorVariable(view.active));
    setName(this.name, view.series.detectors.length > 1 ? `Threshold of detector ${detector.name}` : "Threshold");
    this.best.hidden = !scored;
    const [best, atBest] = [view.bestOf(view.active), view.isBest(view.active)];
    this.allow(scored && best);
    if (!scored) {
      this.number.value = "none";
      return;
    }
    this.best.disabled = !best || atBest;
    this.best.classList.toggle("long", Boolean(best?.broken));
    setText(this.best, bestText(detector, best, atBest, view.limits));
    const threshold = view.thresholds[view.active];
    const text = thresholdText(detector, threshold);
    const breaks = Boolean(view.limits && best && !keepsLimits(detector, best, threshold));
    this.element.classList.toggle("breaks", breaks);
    this.range.max = String(detector.curve.thresholds.length - 1);
    this.range.value = String(this.position(threshold));
    this.range.setAttribute("aria-valuetext", breaks ? `${text}, which breaks the limits` : text);
    this.number.value = text;
    this.number.title = breaks ? "This threshold breaks the limits." : "";
  }
}
