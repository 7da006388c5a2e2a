// What a detector predicts at a threshold: the runs of samples whose score is at least that.

export function predictedAt(detector, threshold, borders) {
  if (detector.fixed) return detector.fixed;
  const { scores } = detector;
  // Starts and stops in turn, never more than samples and one; kept for the next threshold.
  detector.changes = detector.changes || new Float64Array(scores.length + 1);
  const { changes } = detector;
  let count = 0;
  let inside = false;
  for (let i = 0; i < scores.length; i++) {
    const above = scores[i] >= threshold;
    if (above === inside) continue;
    changes[count++] = borders[i];
    inside = above;
  }
  if (inside) changes[count++] = borders[scores.length];
  const starts = new Float64Array(count / 2);
  const stops = new Float64Array(count / 2);
  for (let k = 0; k < count / 2; k++) {
    starts[k] = changes[2 * k];
    stops[k] = changes[2 * k + 1];
  }
  return { starts, stops };
}

// The scores, ascending, each once; made when first asked for.
export function distinctScores(detector) {
  if (!detector.distinct) {
    const sorted = detector.scores.slice().sort();
    let count = 0;
    for (let i = 0; i < sorted.length; i++) {
      if (i === 0 || sorted[i] !== sorted[count - 1]) sorted[count++] = sorted[i];
    }
    detector.distinct = sorted.subarray(0, count);
  }
  return detector.distinct;
}

// Index of the first value that is at least x, in an ascending array.
export function lowerBound(sorted, x, from = 0, to = sorted.length) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (sorted[middle] < x) from = middle + 1;
    else to = middle;
  }
  return from;
}

// Index of the last value that is at most x; -1 if there is none.
export function lastAtMost(sorted, x) {
  const at = lowerBound(sorted, x);
  return sorted[at] === x ? at : at - 1;
}

// The next distinct score in a direction: +1 predicts less, -1 predicts more.
export function neighbour(detector, threshold, direction) {
  const distinct = distinctScores(detector);
  const at = lowerBound(distinct, threshold);
  const exact = distinct[at] === threshold;
  const next = direction > 0 ? at + (exact ? 1 : 0) : at - 1;
  if (next < 0) return distinct[0];
  return next < distinct.length ? distinct[next] : nothing(distinct);
}

// A threshold above every score.
function nothing(distinct) {
  const highest = distinct[distinct.length - 1];
  const step = Math.max(Math.abs(highest), 1e-3) * 1e-6;
  return Number.isFinite(highest) ? Number((highest + step).toPrecision(12)) : highest;
}

// Fewest digits that still tell this threshold from the next score below it, so that the number
// people read gives exactly what they see.
export function thresholdText(detector, threshold) {
  if (!Number.isFinite(threshold)) return threshold > 0 ? "inf" : "-inf";
  const distinct = distinctScores(detector);
  const at = lowerBound(distinct, threshold);
  const below = at > 0 ? distinct[at - 1] : -Infinity;
  const above = at < distinct.length ? distinct[at] : Infinity;
  for (let digits = 4; digits < 17; digits++) {
    const short = Number(threshold.toPrecision(digits));
    if (below < short && short <= above) return String(short);
  }
  return String(threshold);
}
