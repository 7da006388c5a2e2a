// What became of a true event, in one word and in one sentence.

export const OUTCOMES = ["missed", "close call", "early", "late", "on time"];

// How the pieces of one zone lie about its event: what covers it first, and what comes nearest.
function survey(series, result, j) {
  const a = series.truth.starts[j];
  const b = series.truth.stops[j];
  const { starts, stops, offsets } = result.pieces;
  const found = { covered: 0, caught: NaN, before: Infinity, after: Infinity };
  for (let k = offsets[j]; k < offsets[j + 1]; k++) {
    const isPoint = a === b || starts[k] === stops[k];
    const touches = isPoint
      ? starts[k] <= a ? stops[k] >= a && (stops[k] > a || a === b || starts[k] === a) : starts[k] < b
      : starts[k] < b && stops[k] > a;
    if (touches) {
      found.covered += Math.max(0, Math.min(stops[k], b) - Math.max(starts[k], a));
      if (Number.isNaN(found.caught)) found.caught = starts[k] - a;
    } else if (stops[k] <= a) found.before = a - stops[k];
    else found.after = Math.min(found.after, starts[k] - b);
  }
  return found;
}

export function outcome(series, result, j) {
  const { clock } = series;
  if (result.pieces.offsets[j] === result.pieces.offsets[j + 1]) {
    return { kind: "missed", lead: NaN, text: "missed: no alarm in its zone" };
  }
  const { covered, caught, before, after } = survey(series, result, j);
  if (Number.isNaN(caught)) {
    const far = (length) => (length > 0 ? clock.length(length) : "right");
    const text = before <= after
      ? `close call: an alarm stopped ${far(before)} before it`
      : `close call: an alarm came ${far(after)} after it`;
    return { kind: "close call", lead: before <= after ? -before : after, text };
  }
  const kind = caught === 0 ? "on time" : caught < 0 ? "early" : "late";
  const when = caught === 0 ? "on time" : `${clock.length(Math.abs(caught))} ${kind}`;
  const around = result.rows.duration[j] - covered;
  const tail = around > 0 ? `; ${clock.length(around)} of false alarm around it` : "";
  return { kind, lead: caught, text: `caught ${when}${tail}` };
}
