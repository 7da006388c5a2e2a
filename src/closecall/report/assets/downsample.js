// A line of at most a few points per pixel that still shows every peak: the lowest and highest
// value of each bucket, in their order.

import { lowerBound } from "./predict.js";

// The samples that a window of offsets shows, with one more on either side.
export function visibleSamples(borders, from, to) {
  const count = borders.length - 1;
  const first = Math.max(0, lowerBound(borders, from) - 1);
  const after = Math.min(count, lowerBound(borders, to) + 1);
  return [Math.min(first, count - 1), Math.max(after, 1)];
}

export function outline(values, first, after, buckets) {
  if (after - first <= 4 * buckets) {
    return Array.from({ length: after - first }, (_, k) => first + k);
  }
  const chosen = [];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const start = first + Math.floor(((after - first) * bucket) / buckets);
    const stop = first + Math.floor(((after - first) * (bucket + 1)) / buckets);
    let low = start;
    let high = start;
    for (let i = start + 1; i < stop; i++) {
      // Comparisons with nan are false, so a number takes the place of nan.
      if (values[i] < values[low] || Number.isNaN(values[low])) low = i;
      if (values[i] > values[high] || Number.isNaN(values[high])) high = i;
    }
    if (low === high) chosen.push(low);
    else chosen.push(Math.min(low, high), Math.max(low, high));
  }
  return chosen;
}

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
