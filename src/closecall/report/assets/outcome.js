// What happened to an event, and to all of them, in the words of the command line.

import { OUTCOMES } from "./score.js";
import { headline, outcomeText } from "./words.js";

export function outcome({ clock }, { rows }, j) {
  const kind = OUTCOMES[rows.outcome[j]];
  const [delay, nearest] = [rows.delay[j], rows.nearest[j]];
  const text = outcomeText(kind, clock.duration(delay), clock.duration(nearest), clock.dated);
  return { kind, lead: Number.isNaN(delay) ? nearest : delay, text };
}

// With all results of the series, rates are told in one unit of time.
export function headlineOf({ clock, span, truth }, result, all = [result]) {
  const some = all.map((one) => one.falseAlarms).filter((count) => count > 0);
  return headline({
    caught: result.caught,
    events: truth.starts.length,
    medianDelay: clock.duration(result.medianDelay),
    falseAlarms: result.falseAlarms,
    length: clock.evaluated(span[1] - span[0]),
    dated: clock.dated,
    fewest: Math.min(...some),
  });
}
