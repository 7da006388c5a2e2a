// One series as the page works on it: columns unpacked into typed arrays, and the two axes of time.

import { Clock } from "./clock.js";
import { lowerBound } from "./predict.js";
import { zoneBorders } from "./score.js";

// Columns of numbers, packed by Python: bytes of one significance side by side, deflated, base64.
const TYPES = {
  f4: Float32Array, f8: Float64Array,
  i1: Int8Array, i2: Int16Array, i4: Int32Array,
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array,
};

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

export async function inflate(text) {
  const stream = new Blob([fromBase64(text)]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

async function unpack(column) {
  const Type = TYPES[column.type];
  const planes = new Uint8Array(await inflate(column.data));
  const size = Type.BYTES_PER_ELEMENT;
  const count = planes.length / size;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < size; plane++) {
    const from = plane * count;
    for (let i = 0, to = plane; i < count; i++, to += size) bytes[to] = planes[from + i];
  }
  return new Type(bytes.buffer);
}

// Offsets of times, in units of the clock: all of them, or what makes them.
async function unpackTimes(times) {
  if (times.values) return new Float64Array(await unpack(times.values));
  const offsets = new Float64Array(times.count);
  if (times.steps) {
    const steps = await unpack(times.steps);
    offsets[0] = times.first;
    for (let i = 1; i < offsets.length; i++) offsets[i] = offsets[i - 1] + steps[i - 1];
  } else {
    for (let i = 0; i < offsets.length; i++) offsets[i] = times.first + i * times.step;
  }
  return offsets;
}

// Evaluated time and the reader's own. Everything is computed on an axis that is closed over ignored
// time, and opened again where it is drawn or told: at a seam, a start opens to the right of the
// ignored stretch and a stop to the left.
class IgnoredTime {
  constructor(starts, stops, seams) {
    this.starts = starts;
    this.stops = stops;
    this.seams = seams; // where each stretch lies on the closed axis
  }

  start(closed) {
    let last = lowerBound(this.seams, closed);
    if (this.seams[last] !== closed) last -= 1;
    return last < 0 ? closed : this.stops[last] + (closed - this.seams[last]);
  }

  stop(closed) {
    const at = lowerBound(this.seams, closed);
    if (this.seams[at] === closed) return this.starts[at];
    return at === 0 ? closed : this.stops[at - 1] + (closed - this.seams[at - 1]);
  }

  // Whether a moment of the reader's lies in ignored time.
  holds(offset) {
    const at = lowerBound(this.stops, offset);
    return at < this.starts.length && this.stops[at] !== offset && this.starts[at] <= offset;
  }
}

// Intervals where they are drawn; the same ones if nothing is ignored.
export function opened(ignored, { starts, stops }) {
  if (!ignored) return { starts, stops };
  const left = starts.map((at) => ignored.start(at));
  return { starts: left, stops: stops.map((at, k) => (at === starts[k] ? left[k] : ignored.stop(at))) };
}

// Borders of samples: each starts where the ignored time before it stops; the last one stops.
function openedBorders(ignored, borders) {
  if (!ignored || !borders) return borders;
  const last = borders.length - 1;
  return borders.map((at, i) => (i < last ? ignored.start(at) : ignored.stop(at)));
}

// The range of the finite values, with some room.
export function finiteRange(values) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value < low && value > -Infinity) low = value;
    if (value > high && value < Infinity) high = value;
  }
  if (low > high) return [0, 1];
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return [low - room, high + room];
}

async function openDetector(raw, index) {
  const detector = {
    name: raw.name,
    index,
    scores: raw.scores ? await unpack(raw.scores) : null,
    fixed: null,
    curve: null,
    best: raw.best,
    averagePrecision: raw.average_precision,
    chanceAveragePrecision: raw.chance_average_precision ?? NaN,
    chanceBest: raw.chance_best_f1 ?? NaN,
    chance: Object.fromEntries(Object.entries(raw.chance).map(([name, level]) => [name, level ?? NaN])),
    shift: raw.shift,
    call: raw.call, // what computes its results again, if that is known
    threshold: Number(raw.threshold),
  };
  if (raw.starts) {
    detector.fixed = { starts: await unpackTimes(raw.starts), stops: await unpackTimes(raw.stops) };
    return detector;
  }
  detector.best = { ...raw.best, threshold: Number(raw.best.threshold) };
  detector.curve = {};
  for (const name of ["thresholds", "precision", "recall", "f1"]) {
    detector.curve[name] = await unpack(raw.curve[name]);
  }
  detector.free = {};
  for (const [name, key] of [["thresholds", "thresholds"], ["caught", "caught"], ["falseAlarms", "false_alarms"]]) {
    detector.free[name] = [...(await unpack(raw.free_response[key]))];
  }
  detector.range = finiteRange(detector.scores);
  return detector;
}

async function openIgnored(raw) {
  if (!raw) return null;
  const [starts, stops, seams] = await Promise.all([raw.starts, raw.stops, raw.seams].map(unpackTimes));
  return new IgnoredTime(starts, stops, seams);
}

// Truth, zones, borders and predictions are in evaluated time; `drawn` has them where they are seen.
export async function openSeries(raw) {
  const truth = { starts: await unpackTimes(raw.truth.starts), stops: await unpackTimes(raw.truth.stops) };
  const values = raw.values ? await unpack(raw.values) : null;
  const borders = raw.borders ? await unpackTimes(raw.borders) : null;
  const zones = zoneBorders(truth, raw.span);
  const ignored = await openIgnored(raw.ignored);
  return {
    name: raw.name,
    clock: new Clock(raw.clock, raw.shown),
    span: raw.span,
    close: raw.close ?? Infinity,
    borders,
    truth,
    zones,
    values,
    ignored,
    drawn: {
      span: raw.shown,
      truth: opened(ignored, truth),
      borders: openedBorders(ignored, borders),
      zones: ignored ? zones.map((at, j) => (j ? ignored.stop(at) : ignored.start(at))) : zones,
    },
    details: Object.entries(raw.details), // what is known of the events beside their times
    advice: raw.advice,
    signature: raw.signature,
    detectors: await Promise.all(raw.detectors.map(openDetector)),
  };
}
