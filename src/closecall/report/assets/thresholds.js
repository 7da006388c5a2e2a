// Every threshold at once: precision, recall, time in alarm and alarms, as closecall's curve has them,
// and the best one within limits.
// Made only when somebody asks for a best threshold within limits; the page comes with a part of it.
// All of it yields now and then, since it takes a second for half a million samples.

import { distinctScores, lastAtMost, lowerBound } from "./predict.js";
import { fMeasure, lossAfter, lossBefore, lossBetween, lossOutside } from "./score.js";
import { general, lengthText } from "./words.js";

const PAUSE = 4096; // pieces between two yields

// The samples, cut where a zone border falls inside one: piece k is [cuts[k], cuts[k + 1]).
function cutSamples({ borders, zones }, { scores }) {
  const last = borders.length - 1;
  const cuts = new Float64Array(borders.length + zones.length);
  const pieceScores = new Float64Array(cuts.length);
  let count = 0;
  let zone = 1;
  const add = (at, i) => {
    cuts[count] = at;
    pieceScores[count++] = scores[i];
  };
  for (let i = 0; i < last; i++) {
    add(borders[i], i);
    while (zone < zones.length - 1 && zones[zone] < borders[i + 1]) {
      if (zones[zone] > borders[i]) add(zones[zone], i);
      zone++;
    }
  }
  cuts[count] = borders[last];
  return { cuts: cuts.subarray(0, count + 1), scores: pieceScores.subarray(0, count) };
}

// The loss of recall that a piece takes away, entering between two pieces, if there are any.
function gainOf(cuts, piece, left, right, a, b, A, B) {
  const [start, stop] = [cuts[piece], cuts[piece + 1]];
  if (left < 0 && right < 0) {
    const weight = a < b ? b - a : 1;
    return (B - A) * weight - (lossBefore(a, b, start, A) + lossAfter(a, b, stop, B));
  }
  const [v, u] = [left < 0 ? 0 : cuts[left + 1], right < 0 ? 0 : cuts[right]];
  const now = left < 0 ? lossBefore(a, b, u, A) : right < 0 ? lossAfter(a, b, v, B) : lossBetween(a, b, v, u);
  const before = left < 0 ? lossBefore(a, b, start, A) : lossBetween(a, b, v, start);
  const after = right < 0 ? lossAfter(a, b, stop, B) : lossBetween(a, b, stop, u);
  return now - before - after;
}

// What each piece changes when it enters, which depends only on the higher pieces next to it.
function* weigh({ truth, zones }, { cuts, scores }) {
  const count = scores.length;
  const pieces = { loss: new Float64Array(count), gain: new Float64Array(count), zone: new Int32Array(count) };
  const stack = new Int32Array(count);
  let first = 0;
  for (let j = 0; j < truth.starts.length; j++) {
    const [a, b, A, B] = [truth.starts[j], truth.stops[j], zones[j], zones[j + 1]];
    const m = Math.min(a - A, B - b);
    const scale = (B - A) * (a < b ? b - a : 1);
    const isLast = j + 1 === truth.starts.length;
    let top = 0;
    let k = first;
    for (; k < count && (isLast || cuts[k] < B); k++) {
      if (k % PAUSE === 0) yield;
      while (top > 0 && scores[stack[top - 1]] < scores[k]) {
        const piece = stack[--top];
        const left = top > 0 ? stack[top - 1] : -1;
        const far = cuts[k] < a || (left >= 0 && cuts[left + 1] > b);
        pieces.gain[piece] = far ? 0 : gainOf(cuts, piece, left, k, a, b, A, B) / scale;
      }
      stack[top++] = k;
      pieces.loss[k] = lossOutside(a, b, cuts[k], cuts[k + 1], m) / (B - A);
      pieces.zone[k] = j;
    }
    while (top > 0) {
      const piece = stack[--top];
      pieces.gain[piece] = gainOf(cuts, piece, top > 0 ? stack[top - 1] : -1, -1, a, b, A, B) / scale;
    }
    first = k;
  }
  return pieces;
}

// Places of the pieces from the highest score down, and where each distinct score's begin.
function* descending(scores, distinct) {
  const groups = new Int32Array(distinct.length + 1);
  const ranks = new Int32Array(scores.length);
  for (let k = 0; k < scores.length; k++) {
    if (k % PAUSE === 0) yield;
    ranks[k] = distinct.length - 1 - lowerBound(distinct, scores[k]);
    groups[ranks[k] + 1]++;
  }
  for (let k = 0; k < distinct.length; k++) groups[k + 1] += groups[k];
  const next = groups.slice();
  const order = new Int32Array(scores.length);
  for (let k = 0; k < scores.length; k++) order[next[ranks[k]]++] = k;
  return { order, groups };
}

// A sum that keeps what rounding drops.
class Sum {
  constructor() {
    this.total = 0;
    this.rest = 0;
  }

  add(term) {
    const now = this.total + term;
    const back = now - this.total;
    this.rest += this.total - (now - back) + (term - back);
    this.total = now;
  }

  get value() {
    return this.total + this.rest;
  }
}

// Let pieces enter from the highest score down; a point after each distinct score.
function* sweep(series, { cuts }, { loss, gain, zone }, { order, groups }) {
  const points = groups.length - 1;
  const curve = { precision: new Float64Array(points), recall: new Float64Array(points), alarmed: new Float64Array(points) };
  const zones = Array.from(series.truth.starts, () => ({ loss: new Sum(), length: new Sum(), precision: 0 }));
  const [precision, recall, time] = [new Sum(), new Sum(), new Sum()];
  let defined = 0;
  for (let point = 0; point < points; point++) {
    for (let i = groups[point]; i < groups[point + 1]; i++) {
      if (i % PAUSE === 0) yield;
      const k = order[i];
      const sums = zones[zone[k]];
      const length = cuts[k + 1] - cuts[k];
      if (sums.length.total === 0) defined++;
      sums.loss.add(loss[k]);
      sums.length.add(length);
      time.add(length);
      const now = Math.max(0, 1 - sums.loss.value / sums.length.value);
      precision.add(now - sums.precision);
      sums.precision = now;
      recall.add(gain[k]);
    }
    curve.precision[point] = precision.value / defined;
    curve.recall[point] = Math.min(1, recall.value / zones.length);
    curve.alarmed[point] = time.value / (series.span[1] - series.span[0]);
  }
  return curve;
}

// Which pieces overlap a true event.
function hitsOf({ truth }, { cuts, scores }) {
  const hit = new Uint8Array(scores.length);
  for (let j = 0; j < truth.starts.length; j++) {
    const first = lastAtMost(cuts, truth.starts[j]);
    const last = Math.max(lowerBound(cuts, truth.stops[j]) - 1, first);
    if (first < scores.length && last >= 0) hit.fill(1, Math.max(first, 0), Math.min(last + 1, scores.length));
  }
  return hit;
}

// The whole curve of a detector, thresholds descending; kept with it.
function* wholeCurve(series, detector) {
  if (!detector.whole) {
    const pieces = cutSamples(series, detector);
    yield;
    const entering = yield* descending(pieces.scores, distinctScores(detector));
    const curve = yield* sweep(series, pieces, yield* weigh(series, pieces), entering);
    const f1 = curve.precision.map((precision, k) => fMeasure(precision, curve.recall[k]));
    const thresholds = distinctScores(detector).slice().reverse();
    detector.whole = { ...curve, f1, thresholds, pieces, entering, hit: hitsOf(series, pieces) };
  }
  return detector.whole;
}

// Alarms and false ones at every threshold; those that a pause below the cooldown parts are one.
function* countAlarms({ pieces: { cuts, scores }, entering: { order, groups }, hit }, cooldown) {
  const count = scores.length;
  // The neighbours of a piece when it enters: the nearest ones with a score at least as high.
  const left = new Int32Array(count).fill(-1);
  const right = new Int32Array(count).fill(count);
  const parents = new Int32Array(count); // of the groups that have joined
  const stack = new Int32Array(count);
  for (let k = 0, top = 0; k < count; k++) {
    if (k % PAUSE === 0) yield;
    parents[k] = k;
    while (top > 0 && scores[stack[top - 1]] < scores[k]) right[stack[--top]] = k;
    if (top > 0) left[k] = stack[top - 1];
    stack[top++] = k;
  }
  const hits = hit.slice();
  const find = (k) => {
    while (parents[k] !== k) k = parents[k] = parents[parents[k]];
    return k;
  };
  const alarms = new Int32Array(groups.length - 1);
  const falseAlarms = new Int32Array(groups.length - 1);
  let total = 0;
  let wrong = 0;
  const join = (k, early, late, other) => {
    const pause = cuts[late] - cuts[early + 1];
    if (pause > 0 && pause >= cooldown) return;
    const [one, two] = [find(k), find(other)];
    if (one === two) return;
    parents[one] = two;
    total--;
    if (!(hits[one] && hits[two])) wrong--;
    hits[two] |= hits[one];
  };
  for (let point = 0; point < alarms.length; point++) {
    for (let i = groups[point]; i < groups[point + 1]; i++) {
      if (i % PAUSE === 0) yield;
      const k = order[i];
      total++;
      wrong += hit[k] ? 0 : 1;
      if (left[k] >= 0) join(k, left[k], k, left[k]);
      if (right[k] < count) join(k, k, right[k], right[k]);
    }
    alarms[point] = total;
    falseAlarms[point] = wrong;
  }
  return { alarms, falseAlarms };
}

// The best threshold within limits: the highest F1 of exactly what is asked for, as `best` of
// closecall's curve finds it.

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
    const values = columns[column];
    const [bound, per] = [given[option]].flat();
    const most = per ? (bound * time) / per : bound;
    return {
      bound, name, atMost,
      value: per ? (k) => values[k] * (per / time) : (k) => values[k],
      kept: atMost ? (k) => values[k] <= most : (k) => values[k] >= bound,
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
// `broken` says what it breaks. `kept` says which thresholds keep them, in the order of the curve.
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
    kept: Uint8Array.from(values, (value) => value >= 0),
  };
}

// Whether a threshold keeps the limits that a best one was found within.
export function keepsLimits(detector, { kept }, threshold) {
  return Boolean(kept[kept.length - 1 - lowerBound(distinctScores(detector), threshold)]);
}
