// The level of chance: what a detector's own alarms reach when they are moved around the evaluated
// time, on average. The same shifts as closecall's own, so the same digits.

import { lastAtMost } from "./predict.js";
import { cutAtBorders, emptyPieces, emptyRows, scoreZones, zoneBorders } from "./score.js";

const SHIFTS = 1000;
const STEP = 1000; // how many times longer than rounding a step of floats is
const GOLDEN = (Math.sqrt(5) - 1) / 2;

// Places on an axis counted in samples, where times are floats that sums would round.
function inSamples(borders) {
  const last = borders.length - 1;
  return (at) => {
    const low = Math.min(Math.max(lastAtMost(borders, at), 0), last - 1);
    return low + Math.min(1, Math.max(0, (at - borders[low]) / (borders[low + 1] - borders[low])));
  };
}

// The longest step that divides all times from the start, of floats up to rounding; 0 if none does.
// Up to 1,000 whole numbers are counted one by one, as samples are.
function commonStep({ truth, span: [from, to] }, alarms, { whole, rounding }) {
  const length = to - from;
  let rest = [truth, alarms].flatMap(({ starts, stops }) => [...starts, ...stops]).map((end) => end - from);
  rest.push(length);
  for (;;) {
    rest = [...new Set(rest)].filter((end) => end > rounding * length).sort((one, other) => one - other);
    if (rest.length === 1) break;
    const [least] = rest;
    rest = rest.map((end, k) => (k ? Math.abs(end - Math.round(end / least) * least) : end));
  }
  const steps = Math.round(length / rest[0]);
  if (steps * STEP * rounding > 1) return 0;
  const step = rounding ? length / steps : rest[0];
  return length * whole <= SHIFTS && (step * whole) % 1 === 0 ? Math.min(step, 1 / whole) : step;
}

const mapped = ({ starts, stops }, map) => ({ starts: starts.map(map), stops: stops.map(map) });

// Places [low, high) of the seam that leave an alarm across it if there is one now, and none if not;
// in units from the start, or any number without a unit. Alarms that touch are one.
function seams({ starts, stops }, [from, to], [per, of]) {
  // The last place that is not after a start, and the first that is not before a stop.
  const counted = (length, round) => (of > 0 ? round((length * per) / of) : length);
  const one = of > 0 ? 1 : 0;
  const ranges = [];
  for (let k = 0; k < starts.length; k++) {
    if (!(starts[k] < stops[k])) continue;
    const last = ranges[ranges.length - 1];
    if (last && starts[k] <= last[1]) last[1] = Math.max(last[1], stops[k]);
    else ranges.push([starts[k], stops[k]]);
  }
  const ticks = ranges.map(([start, stop]) => [counted(start - from, Math.floor), counted(stop - from, Math.ceil)]);
  const length = counted(to - from, Math.floor);
  if (ranges.length && ranges[0][0] === from && ranges[ranges.length - 1][1] === to) {
    return [ticks.map(([start, stop], k) => [k ? start + one : 0, stop]), length];
  }
  const gaps = [0, ...ticks.map(([, stop]) => stop)];
  return [gaps.map((low, k) => [low, k < ticks.length ? ticks[k][0] + one : length]), length];
}

// Index of the last value that is at most x, of equal ones the last.
function lastNotAbove(sorted, x) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// All shifts if there are up to 1,000, else 1,000 multiples of the golden ratio among them.
function shiftsOf(predicted, span, [per, of]) {
  const unit = of > 0;
  const [runs, length] = seams(predicted, span, [per, of]);
  const before = new Float64Array(runs.length + 1);
  runs.forEach(([low, high], run) => {
    before[run + 1] = before[run] + (high - low);
  });
  const total = before[runs.length];
  const all = unit && total <= SHIFTS;
  const shifts = new Float64Array(all ? total : SHIFTS);
  for (let k = 0; k < shifts.length; k++) {
    let place = all ? k : (((k + 1) * GOLDEN) % 1) * total;
    if (unit && !all) place = Math.min(Math.floor(place), total - 1);
    const run = Math.min(lastNotAbove(before, place), runs.length - 1);
    const seam = Math.min(runs[run][0] + (place - before[run]), runs[run][1]);
    // The alarms go forward by as much as the seam goes back.
    shifts[k] = seam === 0 ? 0 : unit ? ((length - seam) * of) / per : length - seam;
  }
  return shifts;
}

// Alarms that are moved around the span; the one that wraps is cut. Gives how many there are then.
function move({ starts, stops }, shift, [from, to], moved) {
  const count = starts.length;
  if (shift === 0) {
    moved.starts.set(starts);
    moved.stops.set(stops);
    return count;
  }
  const length = to - from;
  let seam = count;
  while (seam > 0 && starts[seam - 1] + shift >= to) seam--;
  let written = 0;
  const add = (start, stop) => {
    moved.starts[written] = start;
    moved.stops[written++] = stop;
  };
  if (seam > 0 && stops[seam - 1] + shift > to) add(from, stops[seam - 1] + shift - length);
  for (let k = seam; k < count; k++) {
    add(Math.max(from, starts[k] + shift - length), Math.max(from, stops[k] + shift - length));
  }
  for (let k = 0; k < seam; k++) add(starts[k] + shift, Math.min(to, stops[k] + shift));
  return written;
}

// Compute the levels, one shift at a time: what is yielded says nothing, what is returned does.
export function* movedLevels(series, predicted, shift) {
  const levels = { precision: NaN, recall: 0, f1: NaN, caught: 0 };
  if (!predicted.starts.length) return levels;
  let [onGrid, alarms, unit] = [series, predicted, shift];
  const step = shift.rounding === undefined ? NaN : commonStep(series, predicted, shift);
  if (step === 0) {
    unit = [1, 0];
  } else if (shift === "samples" || step > 0) {
    const [from, to] = series.span;
    const map = step > 0 ? (at) => Math.round((at - from) / step) : inSamples(series.borders);
    const truth = mapped(series.truth, map);
    const span = [map(from), map(to)];
    onGrid = { truth, span, zones: zoneBorders(truth, span) };
    alarms = mapped(predicted, map);
    unit = [1, 1];
  }
  const shifts = shiftsOf(alarms, onGrid.span, unit);
  const room = alarms.starts.length + 1;
  const moved = { starts: new Float64Array(room), stops: new Float64Array(room) };
  const pieces = emptyPieces(room, onGrid.zones);
  const rows = emptyRows(onGrid.truth.starts.length);
  const sums = { precision: 0, recall: 0, f1: 0, caught: 0 };
  for (const by of shifts) {
    const count = move(alarms, by, onGrid.span, moved);
    const scores = scoreZones(onGrid, cutAtBorders(moved, onGrid.zones, count, pieces), rows);
    for (const name of Object.keys(sums)) sums[name] += scores[name];
    yield;
  }
  for (const name of Object.keys(sums)) levels[name] = sums[name] / shifts.length;
  return levels;
}
