// One card per detector: its scores at its threshold, whether it is shown, and the way to its best.

import { make, setText, toggleAttribute } from "./dom.js";
import { bestText } from "./limits.js";
import { headlineOf } from "./outcome.js";
import { thresholdText } from "./predict.js";
import { detectorVariable } from "./theme.js";
import { chanceText, counted, scoreText } from "./words.js";

const DIGITS = 3;
const SCORES = [["F1", "f1"], ["precision", "precision"], ["recall", "recall"]];
const MEANING = "What the same alarms reach on average when they are moved around the series, all together.";
const AVERAGE_MEANING = "What the same scores reach on average when they are moved around the series.";
const RETUNED_MEANING = "What the same scores reach on average when they are moved around the series and the threshold is chosen again.";

class Card {
  constructor(view, index) {
    this.view = view;
    this.index = index;
    this.detector = view.series.detectors[index];
    this.numbers = {};
    const scores = make("dl", { class: "scores" });
    this.levels = {};
    for (const [name] of SCORES) {
      this.numbers[name] = make("dd", { "data-score": name });
      this.levels[name] = make("dd", { class: "chance", "data-chance": name, title: MEANING });
      scores.append(make("div", {}, make("dt", {}, name), this.numbers[name], this.levels[name]));
    }
    this.headline = make("p", { class: "headline" });
    this.alarms = make("span", {});
    this.note = make("p", { class: "note" }, this.alarms, ...this.average());
    this.best = make("button", { type: "button", class: "best", click: () => view.toBest(index) });
    this.retuned = make("span", { "data-chance": "best F1", title: RETUNED_MEANING }, this.detector.best ? `· re-tuned ${chanceText(this.detector.chanceBest)}` : "");
    const several = view.series.detectors.length > 1;
    this.shown = make("input", { type: "checkbox", "aria-label": `show ${this.detector.name}`, change: () => view.show(index, this.shown.checked) });
    this.name = make("button", { type: "button", class: "name", click: () => view.activate(index) }, this.detector.name);
    this.element = make(
      "article",
      { class: this.detector.scores ? "card scored" : "card", style: `--swatch: ${detectorVariable(index)}`, click: () => view.activate(index) },
      make("header", {}, make("i", { class: "swatch" }), this.name, ...(several ? [this.shown] : [])),
      this.headline,
      scores,
      this.note,
      make("p", { class: "tuned" }, this.best, " ", this.retuned),
    );
    this.shown.addEventListener("click", (event) => event.stopPropagation());
    this.best.addEventListener("click", (event) => event.stopPropagation());
  }

  // No threshold changes it.
  average() {
    const { averagePrecision, chanceAveragePrecision, best } = this.detector;
    if (!best) return [];
    const level = make("span", { "data-chance": "average precision", title: AVERAGE_MEANING }, chanceText(chanceAveragePrecision));
    return [make("span", { class: "average" }, `average precision ${scoreText(averagePrecision, DIGITS)}, `, level)];
  }

  refresh() {
    const { view, index, detector } = this;
    const result = view.results[index];
    const levels = view.levels[index];
    setText(this.headline, headlineOf(view.series, result, view.results));
    for (const [name, key] of SCORES) {
      setText(this.numbers[name], scoreText(result[key], DIGITS));
      setText(this.levels[name], chanceText(levels && levels[key]));
    }
    const alarms = counted(result.alarms, "alarm");
    if (detector.best) {
      const [best, atBest] = [view.bestOf(index), view.isBest(index)];
      setText(this.alarms, `${alarms} at threshold ${thresholdText(detector, view.thresholds[index])}`);
      setText(this.best, bestText(detector, best, atBest, view.limits ? "the limits" : ""));
      this.best.disabled = atBest || !best;
      this.retuned.hidden = Boolean(view.limits);
    } else {
      setText(this.alarms, `${alarms} · predictions without a threshold`);
      this.best.hidden = true;
    }
    this.element.classList.toggle("active", view.active === index);
    toggleAttribute(this.name, "aria-current", view.active === index);
    this.shown.checked = view.shown.has(index);
    this.element.classList.toggle("off", !view.shown.has(index));
  }
}

export class Cards {
  constructor(view) {
    this.cards = view.series.detectors.map((_, index) => new Card(view, index));
    this.element = make("section", { class: "cards", "aria-label": "detectors" }, ...this.cards.map((card) => card.element));
  }

  refresh() {
    for (const card of this.cards) card.refresh();
  }
}
