// One series as the page works on it: typed arrays, unpacked when the series is opened.

import { Clock } from "./clock.js";
import { unpack, unpackTimes } from "./decode.js";
import { finiteRange } from "./downsample.js";
import { IgnoredTime, opened, openedBorders } from "./open.js";
import { zoneBorders } from "./score.js";

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
    leftOut: raw.left_out,
    advice: raw.advice,
    signature: raw.signature,
    detectors: await Promise.all(raw.detectors.map(openDetector)),
  };
}
