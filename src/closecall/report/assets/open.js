// Evaluated time and the reader's own. Everything is computed on an axis that is closed over ignored
// time, and opened again where it is drawn or told: at a seam, a start opens to the right of the
// ignored stretch and a stop to the left.

import { lowerBound } from "./predict.js";

export class IgnoredTime {
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
export function openedBorders(ignored, borders) {
  if (!ignored || !borders) return borders;
  const last = borders.length - 1;
  return borders.map((at, i) => (i < last ? ignored.start(at) : ignored.stop(at)));
}
