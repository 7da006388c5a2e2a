// One series on the page: what is chosen, what follows from it, and the parts that show it.

import { CopyCommand } from "./address.js";
import { movedLevels } from "./chance.js";
import { CurvePanel } from "./curve.js";
import { Detectors, MOST_ROWS, Slider } from "./detectors.js";
import { make } from "./dom.js";
import { predictedAt } from "./predict.js";
import { scoreEvents } from "./score.js";
import { opened } from "./series.js";
import { Slices } from "./slices.js";
import { EventTable } from "./table.js";
import { bestWithin } from "./thresholds.js";
import { Timeline } from "./timeline.js";

const FEW = 10; // events that take less room than two curves
const MOST_STACKED = 2; // scores that each have a panel of their own at first
const REST = 250; // milliseconds without another threshold

export class View {
  constructor(series, changed) {
    this.series = series;
    this.changed = changed; // told when something else is chosen
    this.thresholds = series.detectors.map((detector) => detector.threshold);
    this.levels = series.detectors.map((detector) => detector.chance);
    this.results = series.detectors.map((_, index) => this.scoreAt(index, this.thresholds[index]));
    // Of many detectors the best are drawn, and the very best is the active one.
    const f1 = (index) => (Number.isNaN(this.results[index].f1) ? -1 : this.results[index].f1);
    const ranked = [...series.detectors.keys()];
    if (ranked.length > MOST_ROWS) ranked.sort((p, q) => f1(q) - f1(p) || p - q);
    this.ranked = ranked;
    [this.active] = ranked;
    this.shown = new Set(ranked.slice(0, MOST_ROWS));
    const scored = [...this.shown].filter((index) => series.detectors[index].scores);
    this.layout = scored.length > MOST_STACKED ? "overlay" : "stack";
    this.limits = null;
    this.within = new Map(); // the best thresholds within the limits, as soon as they are found
    this.search = new Slices(0, (index, best) => {
      const { caught, falseAlarms } = this.scoreAt(index, best.threshold); // whatever the cooldown
      this.within.set(index, { ...best, caught, falseAlarms });
      this.refreshBest();
    });
    this.dragMode = matchMedia("(pointer: coarse)").matches ? false : "zoom";
    this.selected = null;
    this.opening = { active: this.active, thresholds: [...this.thresholds] };
    this.chance = new Slices(REST, (index, levels) => {
      this.levels[index] = levels;
      this.detectors.refresh();
    });
    this.detectors = new Detectors(this);
    this.copy = new CopyCommand(this);
    this.slider = new Slider(this, this.copy.element);
    this.timeline = new Timeline(this);
    this.curve = new CurvePanel(this);
    this.table = new EventTable(this);
    this.slider.element.classList.toggle("unscored", !series.detectors.some((detector) => detector.scores));
    this.slider.element.append(this.copy.shown);
    const few = series.truth.starts.length <= FEW && this.curve.plots.length > 1;
    const below = make("div", { class: few ? "below few" : "below" }, this.table.element, this.curve.element);
    this.element = make(
      "div",
      { class: "view" },
      this.detectors.element,
      this.slider.element,
      this.timeline.element,
      below,
    );
  }

  // The scores of a detector at any threshold: what `closecall.affiliation` gives there.
  scoreAt(index, threshold) {
    const detector = this.series.detectors[index];
    const predicted = predictedAt(detector, threshold, this.series.borders);
    return { ...scoreEvents(this.series, predicted), drawn: opened(this.series.ignored, predicted) };
  }

  shownDetectors() {
    return this.ranked.filter((index) => this.shown.has(index));
  }

  // The best F1 of a detector, within the limits if there are any; undefined until it is found.
  bestOf(index) {
    const detector = this.series.detectors[index];
    return this.limits && detector.scores ? this.within.get(index) : detector.best;
  }

  isBest(index) {
    return this.thresholds[index] === this.bestOf(index)?.threshold;
  }

  setLimits(limits) {
    this.limits = limits;
    this.changed();
    this.within.clear();
    this.search.waiting.clear();
    const { detectors } = this.series;
    for (const index of limits ? [this.active, ...detectors.keys()] : []) {
      if (detectors[index].scores) this.search.ask(index, () => bestWithin(this.series, detectors[index], limits));
    }
    this.refreshBest();
  }

  setThreshold(index, threshold) {
    if (!this.series.detectors[index].scores || this.thresholds[index] === threshold) return;
    this.thresholds[index] = threshold;
    this.results[index] = this.scoreAt(index, threshold);
    this.levels[index] = null; // until the slider rests
    const { predicted } = this.results[index];
    this.chance.ask(index, () => movedLevels(this.series, predicted, this.series.detectors[index].shift));
    this.changed();
    this.refresh();
  }

  toBest(index) {
    this.activate(index);
    this.setThreshold(index, this.bestOf(index).threshold);
  }

  // Choose what an address names; the rest is as it opened.
  choose({ active, thresholds, selected, limits, shown }) {
    this.active = active ?? this.opening.active;
    this.shown.add(this.active);
    this.selected = null;
    this.slider.limits.write(limits);
    this.render();
    this.opening.thresholds.forEach((threshold, index) => this.setThreshold(index, thresholds.get(index) ?? threshold));
    if (selected === null) this.timeline.reset();
    else this.select(selected);
    if (shown) this.timeline.show(...shown);
  }

  activate(index) {
    if (this.active === index && this.shown.has(index)) return;
    this.active = index;
    this.shown.add(index);
    this.changed();
    this.render();
  }

  show(index, on) {
    if (on) this.shown.add(index);
    else if (this.shown.size > 1) this.shown.delete(index);
    if (!this.shown.has(this.active)) [this.active] = this.shownDetectors();
    this.changed();
    this.render();
  }

  setLayout(layout) {
    this.layout = layout;
    this.timeline.render();
  }

  select(j) {
    this.selected = j;
    this.changed();
    this.table.refresh();
    this.timeline.goTo(j);
  }

  step(direction) {
    const count = this.series.truth.starts.length;
    const [from, to] = this.timeline.window;
    const middle = (from + to) / 2;
    let next = this.selected === null ? this.series.drawn.truth.starts.findIndex((start) => start > middle) : this.selected + direction;
    if (this.selected === null && direction < 0) next = (next < 0 ? count : next) - 1;
    this.select((next + count) % count);
  }

  // Everything anew: which detectors are shown, the size of the window or the theme changed.
  render() {
    this.detectors.render();
    this.slider.refresh();
    this.copy.refresh();
    this.timeline.render();
    this.curve.render();
    this.table.render();
    this.table.element.style.minHeight = "";
  }

  // What follows the limits.
  refreshBest() {
    this.detectors.refresh();
    this.slider.refresh();
    this.copy.refresh();
    this.curve.refresh();
  }

  // What follows a threshold.
  refresh() {
    this.refreshBest();
    this.timeline.refresh();
    this.table.refresh();
    this.holdHeight();
  }

  // Events take more lines at one threshold than at another; nothing below them moves up for it.
  holdHeight() {
    const { element } = this.table;
    element.style.minHeight = `${element.getBoundingClientRect().height}px`;
  }
}
