// About what a random detector with as many alarms would reach: points anywhere in the span.

import { fMeasure } from "./score.js";

const MUCH = 0.25; // as in closecall's coverage.py

// The probability that any of the alarms falls in a zone with this share of the span.
const reach = (share, alarms) => (share < 1 ? -Math.expm1(alarms * Math.log1p(-share)) : 1);

// Levels that depend on how many alarms there are, not on where. That of recall is exact; that of
// precision weighs zones by the chance to reach them; that of F1 is the F1 of the other two.
export function chanceLevels({ truth, zones, span }, { predicted }) {
  const alarms = predicted.starts.length;
  const whole = span[1] - span[0];
  let precisionSum = 0;
  let recallSum = 0;
  let reached = 0;
  for (let j = 0; j < truth.starts.length; j++) {
    const zone = zones[j + 1] - zones[j];
    if (!(zone > 0)) continue;
    const share = zone / whole;
    // The mean of k / (k + 1) over the number k of points that fall in the zone.
    recallSum += 1 - reach(share, alarms + 1) / ((alarms + 1) * share);
    const event = (truth.stops[j] - truth.starts[j]) / zone;
    const weight = reach(share, alarms);
    precisionSum += weight * (0.5 + 0.5 * event * event);
    reached += weight;
  }
  const precision = alarms ? precisionSum / reached : NaN;
  const recall = recallSum / truth.starts.length;
  return { precision, recall, f1: fMeasure(precision, recall) };
}

// Whether alarms cover so much of the span that points at random times are no match for them.
export function coversMuch({ span }, { predicted }) {
  let covered = 0;
  for (let i = 0; i < predicted.starts.length; i++) covered += predicted.stops[i] - predicted.starts[i];
  return covered > MUCH * (span[1] - span[0]);
}
