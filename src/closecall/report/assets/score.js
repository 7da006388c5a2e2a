// Affiliation precision and recall of events: the closed forms that closecall's kernels use.
// Legend, after appendix A of the paper: zone [A, B), its true event [a, b), m the shorter
// distance from the event to a border of its zone, d a distance. Scores are found through what
// is lost, so perfect scores are exactly 1.

const distances = (d0, d1) => 0.5 * (d1 - d0) * (d1 + d0);

// The integral of min(d, cap) from d0 to d1.
const ramp = (d0, d1, cap) =>
  distances(Math.min(d0, cap), Math.min(d1, cap)) + cap * (Math.max(d1, cap) - Math.max(d0, cap));

// The integral of |gt| + min(d, m) + d, which is what precision loses at distance d.
const outside = (d0, d1, event, m) => event * (d1 - d0) + ramp(d0, d1, m) + distances(d0, d1);

export const OUTCOMES = ["missed", "close call", "caught"]; // by their codes
const [MISSED, CLOSE_CALL, CAUGHT] = [0, 1, 2];
const CHANCE_OF_FAR = 0.9; // the least probability that random alarms are all farther from the event

export function fMeasure(precision, recall) {
  const total = 0.5 * recall + 0.5 * precision;
  if (!total) return total; // 0, or undefined
  return Math.min((precision * recall) / total, Math.max(precision, recall));
}

// Borders of the zones: halfway between true events, and the span's ends.
export function zoneBorders({ starts, stops }, [from, to]) {
  const zones = new Float64Array(starts.length + 1);
  zones[0] = from;
  zones[starts.length] = to;
  for (let j = 1; j < starts.length; j++) zones[j] = (stops[j - 1] + starts[j]) / 2;
  return zones;
}

// Room for so many predictions when zones cut them.
export function emptyPieces(count, borders) {
  const room = count + borders.length - 1;
  return { starts: new Float64Array(room), stops: new Float64Array(room), offsets: new Int32Array(borders.length) };
}

// Cut the first predictions at the zone borders: zone j gets the pieces offsets[j] to offsets[j + 1].
// A point on a border belongs to the zone that starts there; at the span's end, to the last.
export function cutAtBorders({ starts, stops }, borders, many = starts.length, pieces = emptyPieces(many, borders)) {
  const last = borders.length - 2;
  let zone = 0;
  let count = 0;
  const add = (start, stop) => {
    pieces.starts[count] = start;
    pieces.stops[count++] = stop;
  };
  for (let k = 0; k < many; k++) {
    let start = starts[k];
    const stop = stops[k];
    while (zone < last && start >= borders[zone + 1]) pieces.offsets[++zone] = count;
    while (zone < last && stop > borders[zone + 1]) {
      add(start, borders[zone + 1]);
      start = borders[zone + 1];
      pieces.offsets[++zone] = count;
    }
    add(start, stop);
  }
  pieces.offsets.fill(count, zone + 1);
  return pieces;
}

function rangeSums(pieces, first, after, a, b, m) {
  const sums = { length: 0, loss: 0, early: 0, late: 0 };
  for (let k = first; k < after; k++) {
    const start = pieces.starts[k];
    const stop = pieces.stops[k];
    if (!(start < stop)) continue;
    sums.length += stop - start;
    if (start < a) {
      const near = a - Math.min(stop, a);
      sums.loss += outside(near, a - start, b - a, m);
      sums.early += distances(near, a - start);
    }
    if (stop > b) {
      const near = Math.max(start, b) - b;
      sums.loss += outside(near, stop - b, b - a, m);
      sums.late += distances(near, stop - b);
    }
  }
  return sums;
}

// Points count only where there is no range: the limit of a range that starts there.
function pointSums(pieces, first, after, a, b, m) {
  const sums = { length: 0, loss: 0, early: 0, late: 0 };
  for (let k = first; k < after; k++) {
    const point = pieces.starts[k];
    if (a <= point && point < b) continue;
    const early = Math.max(a - point, 0);
    const late = Math.max(point - b, 0);
    sums.loss += b - a + Math.min(early + late, m) + early + late;
    sums.early += early;
    sums.late += late;
  }
  return sums;
}

function precisionRow(pieces, first, after, [a, b, A, B], rows, j) {
  const m = Math.min(a - A, B - b);
  let sums = rangeSums(pieces, first, after, a, b, m);
  let weight = sums.length;
  rows.duration[j] = sums.length;
  if (weight === 0) {
    sums = pointSums(pieces, first, after, a, b, m);
    weight = after - first;
  }
  rows.precision[j] = B > A ? Math.max(0, 1 - sums.loss / ((B - A) * weight)) : 1;
  rows.early[j] = sums.early / weight;
  rows.late[j] = sums.late / weight;
  rows.precisionDistance[j] = (sums.early + sums.late) / weight;
}

// What recall loses beside a single pivot: the integral of min(d, room - d) + d, and that of d.
function beside(d0, d1, room, isPoint) {
  if (isPoint) return [2 * Math.min(d1, 0.5 * room), d1];
  return [2 * ramp(d0, d1, 0.5 * room), distances(d0, d1)];
}

// The integral of the distance to the nearer end of a gap, over the event's part in it.
function between(a, b, left, right) {
  if (a === b && left <= a && a <= right) return Math.min(a - left, right - a);
  const low = Math.max(a, left);
  const high = Math.min(b, right);
  if (low >= high) return 0;
  const half = 0.5 * (right - left);
  return distances(Math.min(low - left, half), Math.min(high - left, half))
    + distances(Math.min(right - high, half), Math.min(right - low, half));
}

// Precision that a predicted range loses; recall that the event loses before the first prediction,
// after the last one, and between two.
export function lossOutside(a, b, start, stop, m) {
  const early = start < a ? outside(a - Math.min(stop, a), a - start, b - a, m) : 0;
  return early + (stop > b ? outside(Math.max(start, b) - b, stop - b, b - a, m) : 0);
}

export function lossBefore(a, b, first, A) {
  if (first <= a) return 0;
  return beside(first - Math.min(b, first), first - a, first - A, a === b)[0];
}

export function lossAfter(a, b, last, B) {
  if (last >= b) return 0;
  return beside(Math.max(a, last) - last, (a === b ? a : b) - last, B - last, a === b)[0];
}

export const lossBetween = (a, b, left, right) => 2 * between(a, b, left, right);

function recallRow(pieces, first, after, [a, b, A, B], rows, j) {
  const isPoint = a === b;
  const weight = isPoint ? 1 : b - a;
  const start = pieces.starts[first];
  const stop = pieces.stops[after - 1];
  let loss = 0;
  let distance = 0;
  const add = ([lost, away]) => {
    loss += lost;
    distance += away;
  };
  if (start > a) add(beside(start - Math.min(b, start), start - a, start - A, isPoint));
  for (let k = first + 1; k < after; k++) {
    const away = between(a, b, pieces.stops[k - 1], pieces.starts[k]);
    if (away) add([2 * away, away]);
  }
  if (stop < b) add(beside(Math.max(a, stop) - stop, b - stop, B - stop, isPoint));
  rows.recall[j] = B > A ? Math.max(0, 1 - loss / ((B - A) * weight)) : 1;
  rows.recallDistance[j] = distance / weight;
}

// Whether an alarm overlaps an event; a point at t stands for [t, t + e).
function overlaps(start, stop, a, b) {
  if (start === stop) return (a <= start && start < b) || start === a;
  if (a === b) return start <= a && a < stop;
  return start < b && stop > a;
}

// What happened to each event, in one merge of the events with the alarms as they were predicted,
// not as zones cut them. Gives how many alarms overlap an event.
function findOutcomes({ truth, zones, close = Infinity }, { starts, stops }, { offsets }, rows) {
  const events = truth.starts.length;
  let k = 0;
  let lastHit = -1;
  let hits = 0;
  for (let j = 0; j < events; j++) {
    const a = truth.starts[j];
    const b = truth.stops[j];
    while (k < starts.length && starts[k] < a && stops[k] <= a) k++;
    const first = k;
    for (; k < starts.length && overlaps(starts[k], stops[k], a, b); k++) {
      if (k > lastHit) hits++;
      lastHit = Math.max(k, lastHit);
    }
    if (k > first) {
      rows.outcome[j] = CAUGHT;
      rows.already[j] = starts[first] < zones[j] ? 1 : 0; // and not raised for this event
      rows.delay[j] = rows.already[j] ? 0 : starts[first] - a;
      k--; // the last of them may reach the next event
      continue;
    }
    rows.outcome[j] = MISSED;
    let early = k > 0 ? a - stops[k - 1] : Infinity;
    let late = k < starts.length ? starts[k] - b : Infinity;
    if (Math.min(early, late) === Infinity) continue;
    rows.nearest[j] = early <= late ? -early : late;
    // Only an alarm of the event's own zone can be a close call.
    const before = a - zones[j];
    const after = zones[j + 1] - b;
    if (early > before || (early === before && starts[k - 1] < stops[k - 1])) early = Infinity;
    if (late > after || (late === after && j + 1 < events)) late = Infinity;
    const nearest = Math.min(early, late);
    if (nearest === Infinity || nearest > close) continue;
    const nearer = before + after ? (nearest + Math.min(nearest, before, after)) / (before + after) : 0;
    if ((1 - nearer) ** (offsets[j + 1] - offsets[j]) >= CHANCE_OF_FAR) rows.outcome[j] = CLOSE_CALL;
  }
  return hits;
}

// The median delay, counting an event that was not caught as never.
function medianDelay({ outcome, delay }) {
  const ordered = delay.map((late, j) => (outcome[j] === CAUGHT ? late : Infinity)).sort();
  const last = ordered.length - 1;
  return (ordered[Math.floor(last / 2)] + ordered[Math.ceil(last / 2)]) / 2;
}

const COLUMNS = [
  "precision", "recall", "f1", "precisionDistance", "recallDistance", "early", "late", "duration",
  "outcome", "delay", "nearest", "already",
];

// Precision and recall of each event into the columns of rows; their means, and the events caught.
export function scoreZones(series, pieces, rows) {
  const { starts, stops } = series.truth;
  let precisionSum = 0;
  let recallSum = 0;
  let defined = 0;
  let caught = 0;
  for (let j = 0; j < starts.length; j++) {
    const first = pieces.offsets[j];
    const after = pieces.offsets[j + 1];
    if (first === after) {
      rows.recall[j] = rows.duration[j] = 0;
      rows.recallDistance[j] = Infinity;
      continue;
    }
    const place = [starts[j], stops[j], series.zones[j], series.zones[j + 1]];
    precisionRow(pieces, first, after, place, rows, j);
    recallRow(pieces, first, after, place, rows, j);
    precisionSum += rows.precision[j];
    recallSum += rows.recall[j];
    defined++;
    let k = first;
    while (k < after && !overlaps(pieces.starts[k], pieces.stops[k], starts[j], stops[j])) k++;
    if (k < after) caught++;
  }
  const precision = defined ? precisionSum / defined : NaN;
  const recall = recallSum / starts.length;
  return { precision, recall, f1: fMeasure(precision, recall), caught };
}

export function emptyRows(events) {
  return Object.fromEntries(COLUMNS.map((name) => [name, new Float64Array(events).fill(NaN)]));
}

// All that `closecall.affiliation` gives: the scores, what happened, and a row for each event.
export function scoreEvents(series, predicted) {
  const rows = emptyRows(series.truth.starts.length);
  const pieces = cutAtBorders(predicted, series.zones);
  const scores = scoreZones(series, pieces, rows);
  for (let j = 0; j < rows.f1.length; j++) rows.f1[j] = fMeasure(rows.precision[j], rows.recall[j]);
  const hits = findOutcomes(series, predicted, pieces, rows);
  return {
    ...scores,
    rows,
    predicted,
    alarms: predicted.starts.length,
    falseAlarms: predicted.starts.length - hits,
    alarmed: rows.duration.reduce((sum, length) => sum + length, 0) / (series.span[1] - series.span[0]),
    medianDelay: medianDelay(rows),
  };
}
