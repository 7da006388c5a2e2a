// What the pointer is on, in words: a moment, the scores there, an event and what became of it.

import { hideTooltip, showTooltip } from "./dom.js";
import { visibleEvents } from "./lanes.js";
import { outcome } from "./outcome.js";
import { lastAtMost } from "./predict.js";
import { colour, detectorColour } from "./theme.js";
import { numberText, scoreText } from "./words.js";

const NEAR = 4; // pixels beside a bar that still mean it

export function eventLines(view, j) {
  const { clock, drawn: { truth }, detectors, details } = view.series;
  const lasts = truth.stops[j] - truth.starts[j];
  const lines = [{
    text: `starts ${clock.moment(truth.starts[j])}${lasts ? `, lasts ${clock.length(lasts)}` : ", a point"}`,
  }];
  for (const [name, values] of details) {
    if (values[j]) lines.push({ text: `${name}: ${values[j]}` });
  }
  for (const index of view.shownDetectors()) {
    const result = view.results[index];
    const { rows } = result;
    const name = detectors.length > 1 ? `${detectors[index].name}: ` : "";
    lines.push({ text: name + outcome(view.series, result, j).text, colour: detectorColour(index) });
    if (Number.isNaN(rows.precision[j])) continue;
    lines.push({
      text: `precision ${scoreText(rows.precision[j])} (alarms ${clock.length(rows.precisionDistance[j])} away), `
        + `recall ${scoreText(rows.recall[j])} (${clock.length(rows.recallDistance[j])} from an alarm)`,
    });
  }
  return lines;
}

function hit(events, frame, x) {
  const [from, to] = [frame.offset(x - NEAR), frame.offset(x + NEAR)];
  const [first, after] = visibleEvents(events, from, to);
  const at = frame.offset(x);
  for (let k = first; k < after; k++) {
    if (events.starts[k] <= at && at < events.stops[k]) return k;
  }
  return first < after ? first : null;
}

function alarmLines(view, index, k) {
  const { clock, drawn: { zones } } = view.series;
  const { starts, stops } = view.results[index].drawn;
  const lasts = stops[k] - starts[k];
  const event = Math.min(lastAtMost(zones, starts[k]), zones.length - 2);
  return [
    { text: `${clock.moment(starts[k])} to ${clock.moment(stops[k])}${lasts ? `, ${clock.length(lasts)}` : ""}`, colour: detectorColour(index) },
    { text: `in the zone of event ${event + 1}` },
  ];
}

// The sample that lasts over a moment; null outside the samples, or where there are none.
function sampleAt({ ignored, drawn: { borders } }, offset) {
  if (!borders || (ignored && ignored.holds(offset))) return null;
  const at = lastAtMost(borders, offset);
  return at < 0 || at >= borders.length - 1 ? null : at;
}

function sampleLines(view, at) {
  const { series } = view;
  const lines = [];
  if (at === null) return lines;
  if (series.values) lines.push({ text: `value ${numberText(series.values[at])}`, colour: colour("series") });
  for (const index of view.shownDetectors()) {
    const detector = series.detectors[index];
    if (!detector.scores) continue;
    lines.push({ text: `${detector.name}: score ${numberText(detector.scores[at])}`, colour: detectorColour(index) });
  }
  return lines;
}

export function hover(timeline, event) {
  const { view, frame } = timeline;
  if (!frame) return;
  const box = timeline.stage.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const outside = x < frame.left || x > frame.right || y > frame.bottom;
  timeline.crosshair.hidden = outside;
  if (outside) {
    hideTooltip();
    return;
  }
  timeline.crosshair.style.transform = `translateX(${x}px)`;
  timeline.crosshair.style.height = `${frame.bottom}px`;
  const lane = frame.lanes.find(({ top, height, label }) => y >= label - 12 && y <= top + height + 2);
  if (lane && lane.detector !== undefined) {
    const k = hit(view.results[lane.detector].drawn, frame, x);
    if (k !== null) {
      showTooltip(event.clientX, event.clientY, "Alarm", alarmLines(view, lane.detector, k));
      return;
    }
  }
  const offset = frame.offset(x);
  if (view.series.ignored?.holds(offset)) {
    showTooltip(event.clientX, event.clientY, view.series.clock.moment(offset), [{ text: "ignored: nothing counts here" }]);
    return;
  }
  const j = hit(view.series.drawn.truth, frame, x);
  const at = sampleAt(view.series, offset);
  if (j !== null) {
    const more = lane ? [] : sampleLines(view, at);
    showTooltip(event.clientX, event.clientY, `Event ${j + 1}`, [...eventLines(view, j), ...more]);
    return;
  }
  const moment = view.series.clock.moment(at === null ? offset : view.series.drawn.borders[at]);
  showTooltip(event.clientX, event.clientY, moment, sampleLines(view, at));
}
