// The level of chance: the mean score where the alarms are shifted around the evaluated time, or where
// the true events are, whichever is higher. The same shifts as closecall's own, so the same digits.

import { lastAtMost } from "./predict.js";
import { cutAtBorders, emptyPieces, emptyRows, scoreZones, zoneBorders } from "./score.js";

const SHIFTS = 1000;
const STEP = 1000; // how many times longer than rounding a step of floats is
const TOLERANCE = 1e-12; // scores this close are equal
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

// Places [low, high) of the seam, in units from the start, or any number without a unit; and how many
// there are in the span. In alarms that take at most half of the time, all of them. Else those that leave
// an alarm across the seam if there is one now, and none if not; alarms that touch are one.
function alarmSeams({ starts, stops }, [from, to], [per, of]) {
  const ranges = [];
  let alarmed = 0;
  for (let k = 0; k < starts.length; k++) {
    if (!(starts[k] < stops[k])) continue;
    alarmed += stops[k] - starts[k];
    const last = ranges[ranges.length - 1];
    if (last && starts[k] <= last[1]) last[1] = Math.max(last[1], stops[k]);
    else ranges.push([starts[k], stops[k]]);
  }
  const length = counted(to - from, [per, of], Math.floor);
  if (2 * alarmed <= to - from) return [[[0, length]], length];
  if (ranges[0][0] > from || ranges[ranges.length - 1][1] < to) return gaps(ranges, [from, to], [per, of]);
  const inside = ranges.map(([start, stop], k) => [
    k ? counted(start - from, [per, of], Math.floor) + (of > 0 ? 1 : 0) : 0,
    counted(stop - from, [per, of], Math.ceil),
  ]);
  return [inside, length];
}

// The same in true events, of which none is cut.
function eventSeams({ starts, stops }, span, unit) {
  const ranges = [...starts].map((start, k) => [start, stops[k]]).filter(([start, stop]) => start < stop);
  return gaps(ranges, span, unit);
}

// Places in no range, or at an end: up to the last that is not after a start, from the first that is
// not before a stop.
function gaps(ranges, [from, to], unit) {
  const length = counted(to - from, unit, Math.floor);
  const lows = [0, ...ranges.map(([, stop]) => counted(stop - from, unit, Math.ceil))];
  const highs = ranges.map(([start]) => counted(start - from, unit, Math.floor) + (unit[1] > 0 ? 1 : 0));
  return [lows.map((low, k) => [low, k < highs.length ? highs[k] : length]), length];
}

const counted = (length, [per, of], round) => (of > 0 ? round((length * per) / of) : length);

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
function shiftsOf([runs, length], [per, of]) {
  const unit = of > 0;
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
    // What is moved goes forward by as much as the seam goes back.
    shifts[k] = seam === 0 ? 0 : unit ? ((length - seam) * of) / per : length - seam;
  }
  return shifts;
}

// Intervals that are moved around the span; the one that wraps is cut. Gives how many there are then.
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

const room = ({ starts }) => ({ starts: new Float64Array(starts.length + 1), stops: new Float64Array(starts.length + 1) });

// What the moves of one side score on average, and whether any differs from what was observed.
class Moves {
  constructor(observed) {
    this.observed = observed;
    this.count = 0;
    this.sums = Object.fromEntries(Object.keys(observed).map((name) => [name, 0]));
    this.changed = {};
  }

  add(scores) {
    this.count++;
    for (const name of Object.keys(this.sums)) {
      this.sums[name] += scores[name];
      if (!(Math.abs(scores[name] - this.observed[name]) < TOLERANCE)) this.changed[name] = true;
    }
  }

  mean(name) {
    return this.sums[name] / this.count;
  }

  // The higher mean; where no move of the alarms changes a score, it is at chance.
  level(name, others) {
    return this.changed[name] ? Math.max(this.mean(name), others.mean(name)) : this.mean(name);
  }
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
  const { truth, span } = onGrid;
  const rows = emptyRows(truth.starts.length);
  const pieces = emptyPieces(alarms.starts.length + 1, onGrid.zones);
  const scored = (on, intervals, count) => scoreZones(on, cutAtBorders(intervals, on.zones, count, pieces), rows);
  const observed = scored(onGrid, alarms, alarms.starts.length);
  const moves = new Moves(observed);
  const moved = room(alarms);
  for (const by of shiftsOf(alarmSeams(alarms, span, unit), unit)) {
    moves.add(scored(onGrid, moved, move(alarms, by, span, moved)));
    yield;
  }
  const others = new Moves(observed);
  const events = room(truth);
  for (const by of shiftsOf(eventSeams(truth, span, unit), unit)) {
    const count = move(truth, by, span, events);
    const there = { starts: events.starts.subarray(0, count), stops: events.stops.subarray(0, count) };
    others.add(scored({ truth: there, zones: zoneBorders(there, span) }, alarms, alarms.starts.length));
    yield;
  }
  for (const name of Object.keys(observed)) levels[name] = moves.level(name, others);
  return levels;
}
