// The best threshold within limits: the highest F1 of exactly what is asked for, as `best` of
// closecall's curve finds it.

import { make, setText } from "./dom.js";
import { thresholdText } from "./predict.js";
import { countAlarms, wholeCurve } from "./sweep.js";
import { readLength, scoreText } from "./words.js";

const MOST_ALARMED = 0.5; // with a budget of alarms, since one endless alarm keeps any budget
const ROUNDING = 8 * Number.EPSILON;

// Limits: minPrecision and minRecall, maxAlarms and maxFalseAlarms as [count, offsets], maxAlarmed,
// and cooldown in offsets; each may be missing. Null if no threshold keeps them.
export function bestWithin(series, detector, limits) {
  const curve = wholeCurve(series, detector);
  const { alarms, falseAlarms } = countAlarms(curve, limits.cooldown || 0);
  const budget = limits.maxAlarms || limits.maxFalseAlarms;
  const maxAlarmed = limits.maxAlarmed ?? (budget ? MOST_ALARMED : Infinity);
  const time = series.span[1] - series.span[0];
  const most = (limit) => (limit ? (limit[0] * time) / limit[1] : Infinity);
  const [mostAlarms, mostFalse] = [most(limits.maxAlarms), most(limits.maxFalseAlarms)];
  const allowed = (k) =>
    curve.precision[k] >= (limits.minPrecision ?? 0) && curve.recall[k] >= (limits.minRecall ?? 0)
    && curve.alarmed[k] <= maxAlarmed && alarms[k] <= mostAlarms && falseAlarms[k] <= mostFalse;
  const values = curve.f1.map((f1, k) => (allowed(k) ? f1 : -1));
  const highest = values.reduce((high, value) => Math.max(high, value), -1);
  if (highest < 0) return null;
  const at = values.findIndex((value) => value >= highest * (1 - ROUNDING));
  return {
    threshold: curve.thresholds[at], precision: curve.precision[at], recall: curve.recall[at], f1: curve.f1[at],
    alarms: alarms[at], falseAlarms: falseAlarms[at], alarmed: curve.alarmed[at],
  };
}

const NUMBER = (text) => (text === "" ? NaN : Number(text));
const FIELDS = [
  ["maxAlarms", "at most", "alarms"], ["maxFalseAlarms", "at most", "false alarms"], ["per", "per", ""],
  ["cooldown", "closer than", "count once"], ["minPrecision", "precision at least", ""], ["minRecall", "recall at least", ""],
];

// Inputs beside the slider, folded until somebody opens them; they hold for every detector.
export class LimitInputs {
  constructor(view) {
    this.view = view;
    this.inputs = {};
    const fields = FIELDS.map(([name, before, after]) => {
      this.inputs[name] = make("input", { type: "text", name, autocomplete: "off", spellcheck: "false", "aria-label": [before, after].join(" ").trim(), change: () => this.read() });
      return make("label", {}, `${before} `, this.inputs[name], after && ` ${after}`);
    });
    const { clock } = view.series;
    this.inputs.per.value = clock.dated ? "day" : "1000";
    this.inputs.cooldown.placeholder = clock.dated ? "30 min" : "10";
    this.best = make("button", { type: "button", class: "best", click: () => view.toBest(view.active) });
    const form = make("form", { submit: (event) => event.preventDefault() }, ...fields, this.best);
    this.element = make("details", { class: "limits" }, make("summary", {}, "Limits on alarms, precision and recall"), form);
  }

  // What is not understood is marked, and taken as not said.
  read() {
    const { clock } = this.view.series;
    const value = (name, read, least = 0, most = Infinity) => {
      const input = this.inputs[name];
      const text = input.value.trim();
      const found = read(text);
      const fine = found >= least && found <= most;
      input.setCustomValidity(text === "" || fine ? "" : "not understood");
      return fine ? found : undefined;
    };
    const offsets = (text) => clock.offsets(readLength(text, clock.dated));
    const per = value("per", offsets, Number.MIN_VALUE);
    const budget = (name) => {
      const count = value(name, NUMBER);
      return count === undefined || per === undefined ? undefined : [count, per];
    };
    const limits = {
      maxAlarms: budget("maxAlarms"),
      maxFalseAlarms: budget("maxFalseAlarms"),
      cooldown: value("cooldown", offsets),
      minPrecision: value("minPrecision", NUMBER, 0, 1),
      minRecall: value("minRecall", NUMBER, 0, 1),
    };
    const any = Object.values(limits).some((limit) => limit !== undefined);
    this.view.setLimits(any ? limits : null);
  }

  refresh() {
    const { view } = this;
    const best = view.bestOf(view.active);
    const detector = view.series.detectors[view.active];
    this.best.hidden = !view.limits || !detector.scores;
    if (this.best.hidden) return;
    this.best.disabled = !best || view.isBest(view.active);
    setText(this.best, best
      ? `best F1 within them ${scoreText(best.f1, 3)} at ${thresholdText(detector, best.threshold)}${this.best.disabled ? ": here" : ""}`
      : "no threshold keeps them");
  }
}
