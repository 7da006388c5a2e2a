// The best threshold within limits: the highest F1 of exactly what is asked for, as `best` of
// closecall's curve finds it.

import { make, setText } from "./dom.js";
import { thresholdText } from "./predict.js";
import { countAlarms, wholeCurve } from "./sweep.js";
import { general, lengthText, readLength, scoreText } from "./words.js";

const MOST_ALARMED = 0.5; // with a budget of alarms, since one endless alarm keeps any budget
const ROUNDING = 8 * Number.EPSILON;

// The columns that are bounded, in the order in which the library names them.
const BOUNDS = [
  ["minPrecision", "precision", "precision", false], ["minRecall", "recall", "recall", false], ["maxAlarmed", "alarmed", "alarmed", true],
  ["maxAlarms", "alarms", "alarms", true], ["maxFalseAlarms", "falseAlarms", "false alarms", true],
];

// Limits with a function of a threshold's place that gives the value in the unit of the bound.
function boundsOf({ clock, span }, limits, columns) {
  const time = span[1] - span[0];
  const budget = limits.maxAlarms || limits.maxFalseAlarms;
  const given = { ...limits, maxAlarmed: limits.maxAlarmed ?? (budget ? MOST_ALARMED : undefined) };
  return BOUNDS.filter(([option]) => given[option] !== undefined).map(([option, column, name, atMost]) => {
    const own = columns[column];
    const [bound, per] = [given[option]].flat();
    const most = per ? (bound * time) / per : bound;
    return {
      bound, name, atMost,
      value: per ? (k) => own[k] * (per / time) : (k) => own[k],
      kept: atMost ? (k) => own[k] <= most : (k) => own[k] >= bound,
      unit: per ? ` per ${lengthText(clock.evaluated(per), clock.dated)}` : "",
    };
  });
}

// How far a threshold is from keeping a limit, as a share of the bound or of 1.
function missedBy({ value, bound, atMost }, k) {
  const away = value(k) - bound;
  return Math.max(atMost ? away : -away, 0) / (bound || 1);
}

// Three digits, or as many as tell the value from the bound.
function apart(value, bound) {
  for (let digits = 3; digits < 18; digits++) {
    const text = general(value, digits);
    if (Number(text) !== bound && Number(text) > bound === value > bound) return text;
  }
  return general(value, 3);
}

// Limits: minPrecision and minRecall, maxAlarms and maxFalseAlarms as [count, offsets], maxAlarmed,
// and cooldown in offsets; each may be missing. If no threshold keeps them, the nearest one, and
// `broken` says what it breaks.
export function* bestWithin(series, detector, limits) {
  const curve = yield* wholeCurve(series, detector);
  const counts = yield* countAlarms(curve, limits.cooldown || 0);
  const columns = { ...curve, ...counts };
  const bounds = boundsOf(series, limits, columns);
  const values = curve.f1.map((f1, k) => (bounds.every(({ kept }) => kept(k)) ? f1 : -1));
  yield;
  const highest = values.reduce((high, value) => Math.max(high, value), -1);
  let at = values.findIndex((value) => value >= highest * (1 - ROUNDING));
  let broken = "";
  if (highest < 0) {
    const away = values.map((_, k) => bounds.reduce((far, limit) => Math.max(far, missedBy(limit, k)), 0));
    at = away.indexOf(away.reduce((near, one) => Math.min(near, one)));
    broken = bounds.filter(({ kept }) => !kept(at)).map(({ name, value, unit, bound, atMost }) =>
      `${name} ${apart(value(at), bound)}${unit} (${atMost ? "at most" : "at least"} ${general(bound, 6)} asked)`).join(" and ");
  }
  return {
    threshold: curve.thresholds[at], precision: curve.precision[at], recall: curve.recall[at], f1: curve.f1[at],
    alarms: counts.alarms[at], falseAlarms: counts.falseAlarms[at], alarmed: curve.alarmed[at], broken,
  };
}

// What is best, or nearest, where it is, and whether that is here; `them` are the limits.
export function bestText(detector, best, atBest, them) {
  if (!best) return "looking for the best threshold …";
  const place = thresholdText(detector, best.threshold);
  if (best.broken) return `no threshold keeps ${them}; the nearest is ${place}${atBest ? " (here)" : ""}`;
  return `best F1${them && ` within ${them}`} ${scoreText(best.f1, 3)}${atBest ? ": here" : ` at ${place}`}`;
}

const NUMBER = (text) => (text === "" ? NaN : Number(text));
const FIELDS = [
  ["maxAlarms", "at most", "alarms"], ["maxFalseAlarms", "at most", "false alarms"], ["per", "per", ""],
  ["cooldown", "closer than", "count once"], ["maxAlarmed", "in alarm at most", "of the time"], ["minPrecision", "precision at least", ""], ["minRecall", "recall at least", ""],
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
      maxAlarmed: value("maxAlarmed", NUMBER, 0, 1),
      minPrecision: value("minPrecision", NUMBER, 0, 1),
      minRecall: value("minRecall", NUMBER, 0, 1),
    };
    this.inputs.maxAlarmed.placeholder = limits.maxAlarms || limits.maxFalseAlarms ? String(MOST_ALARMED) : "";
    const any = Object.values(limits).some((limit) => limit !== undefined);
    this.view.setLimits(any ? limits : null);
  }

  refresh() {
    const { view } = this;
    const best = view.bestOf(view.active);
    const detector = view.series.detectors[view.active];
    this.best.hidden = !view.limits || !detector.scores;
    if (this.best.hidden) return;
    const atBest = view.isBest(view.active);
    this.best.disabled = !best || atBest;
    setText(this.best, bestText(detector, best, atBest, "them") + (best?.broken ? ` with ${best.broken}` : ""));
  }
}
