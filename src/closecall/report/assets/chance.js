// What a random detector with as many alarms would reach: points anywhere in the span.

import { fMeasure } from "./score.js";

// The mean of k / (k + 1) over the number k of points that fall in a zone with this share of the span.
function recallLevel(share, alarms) {
  if (!(share > 0)) return 0;
  const missed = share < 1 ? -Math.expm1((alarms + 1) * Math.log1p(-share)) : 1;
  return 1 - missed / ((alarms + 1) * share);
}

// Levels beside the scores of a result; that of F1 is the F1 of the other two.
export function chanceLevels({ truth, zones, span }, { rows, predicted }) {
  const alarms = predicted.starts.length;
  const whole = span[1] - span[0];
  let precisionSum = 0;
  let recallSum = 0;
  let defined = 0;
  for (let j = 0; j < truth.starts.length; j++) {
    const zone = zones[j + 1] - zones[j];
    recallSum += recallLevel(zone / whole, alarms);
    if (Number.isNaN(rows.precision[j])) continue;
    const event = zone > 0 ? (truth.stops[j] - truth.starts[j]) / zone : 0;
    precisionSum += 0.5 + 0.5 * event * event;
    defined++;
  }
  const precision = defined ? precisionSum / defined : NaN;
  const recall = recallSum / truth.starts.length;
  return { precision, recall, f1: fMeasure(precision, recall) };
}
