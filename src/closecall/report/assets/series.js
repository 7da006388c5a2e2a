// One series as the page works on it: typed arrays, unpacked when the series is opened.

import { Clock } from "./clock.js";
import { unpack, unpackTimes } from "./decode.js";
import { finiteRange } from "./downsample.js";

async function openDetector(raw, index) {
  const detector = {
    name: raw.name,
    index,
    scores: raw.scores ? await unpack(raw.scores) : null,
    fixed: null,
    curve: null,
    best: raw.best,
    averagePrecision: raw.average_precision,
    chance: Object.fromEntries(Object.entries(raw.chance).map(([name, level]) => [name, level ?? NaN])),
    chanceAveragePrecision: raw.chance_average_precision,
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
  detector.range = finiteRange(detector.scores);
  return detector;
}

// Borders of the zones: halfway between true events, and the span's ends.
function zoneBorders({ starts, stops }, [from, to]) {
  const zones = new Float64Array(starts.length + 1);
  zones[0] = from;
  zones[starts.length] = to;
  for (let j = 1; j < starts.length; j++) zones[j] = (stops[j - 1] + starts[j]) / 2;
  return zones;
}

export async function openSeries(raw) {
  const truth = { starts: await unpackTimes(raw.truth.starts), stops: await unpackTimes(raw.truth.stops) };
  const values = raw.values ? await unpack(raw.values) : null;
  return {
    name: raw.name,
    clock: new Clock(raw.clock, raw.span),
    span: raw.span,
    borders: raw.borders ? await unpackTimes(raw.borders) : null,
    truth,
    zones: zoneBorders(truth, raw.span),
    values,
    detectors: await Promise.all(raw.detectors.map(openDetector)),
  };
}
