// The canvas under the lines: true events and their zones, and one lane of alarms per detector.

import { lowerBound } from "./predict.js";
import { OUTCOMES } from "./score.js";
import { colour, detectorColour } from "./theme.js";

const THINNEST = 2; // pixels; no event is lost from sight
const SAME = 0.3; // pixels; a gap that small cannot be seen
const MOST_ZONES = 400;
const HATCH = 8; // pixels between the lines of ignored time

// Events of a sorted list that a window shows, as [first, after].
export function visibleEvents({ starts, stops }, from, to) {
  return [lowerBound(stops, from), lowerBound(starts, to)];
}

// Draw bars from one event to another; what shares a pixel is one bar.
export function drawBars(context, events, [first, after], x, { top, height, thinnest = THINNEST }) {
  let left = NaN;
  let right = -Infinity;
  for (let k = first; k < after; k++) {
    const from = x(events.starts[k]);
    const to = Math.max(x(events.stops[k]), from + thinnest);
    if (from <= right + SAME) {
      right = Math.max(right, to);
      continue;
    }
    if (right > left) context.fillRect(left, top, right - left, height);
    left = from;
    right = to;
  }
  if (right > left) context.fillRect(left, top, right - left, height);
}

// A bar far longer than the window is drawn only where it can be seen.
function bars(context, events, frame, place) {
  const x = (offset) => Math.min(Math.max(frame.x(offset), frame.left - 4), frame.right + 4);
  drawBars(context, events, visibleEvents(events, frame.from, frame.to), x, place);
}

function bands(context, view, frame) {
  const { panels } = frame;
  context.fillStyle = colour("band");
  for (const panel of panels) bars(context, view.series.drawn.truth, frame, panel);
}

function zones(context, view, frame) {
  const borders = view.series.drawn.zones;
  const [first, after] = [lowerBound(borders, frame.from), lowerBound(borders, frame.to)];
  if (after - first > MOST_ZONES) return;
  context.save();
  context.setLineDash([2, 4]);
  context.strokeStyle = colour("zone");
  context.beginPath();
  for (let j = Math.max(first, 1); j < Math.min(after, borders.length - 1); j++) {
    const x = Math.round(frame.x(borders[j])) + 0.5;
    context.moveTo(x, frame.top);
    context.lineTo(x, frame.bottom);
  }
  context.stroke();
  context.restore();
}

function selection(context, view, frame) {
  if (view.selected === null) return;
  const [left, right] = [view.selected, view.selected + 1].map((j) => frame.x(view.series.drawn.zones[j]));
  context.fillStyle = colour("selected");
  context.fillRect(left, frame.top, right - left, frame.bottom - frame.top);
}

// The true events: filled if the active detector caught them, hollow if not, red if it missed them.
function truthLane(context, view, frame, lane) {
  const { truth } = view.series.drawn;
  const { starts, stops } = truth;
  const { outcome } = view.results[view.active].rows;
  const [first, after] = visibleEvents(truth, frame.from, frame.to);
  let labelled = frame.left + context.measureText("true events").width;
  context.textAlign = "center";
  for (let j = first; j < after; j++) {
    const left = Math.max(frame.x(starts[j]), frame.left - 4);
    const width = Math.max(Math.min(frame.x(stops[j]), frame.right + 4) - left, THINNEST);
    const kind = OUTCOMES[outcome[j]];
    const [caught, missed] = [kind === "caught", kind === "missed"];
    context.fillStyle = colour(missed ? "missed" : "truth");
    context.fillRect(left, lane.top, width, lane.height);
    if (!caught && width > 5) context.clearRect(left + 1.5, lane.top + 1.5, width - 3, lane.height - 3);
    const middle = Math.min(Math.max(left + width / 2, frame.left + 8), frame.right - 8);
    const room = 4 + 7 * String(j + 1).length;
    if (middle - labelled < room) continue;
    labelled = middle;
    const inside = width >= room + 2;
    context.fillStyle = colour(missed ? "missed" : inside && caught ? "page" : "ink");
    context.fillText(String(j + 1), middle, inside ? lane.top + lane.height - 4 : lane.top - 4);
  }
}

// Ignored time hides what is under it, since nothing of that counts, and says what it is.
function ignoredTime(context, view, frame) {
  const { ignored } = view.series;
  if (!ignored) return;
  const [first, after] = visibleEvents(ignored, frame.from, frame.to);
  context.textAlign = "center";
  for (let k = first; k < after; k++) {
    const left = Math.max(frame.x(ignored.starts[k]), frame.left);
    const width = Math.min(frame.x(ignored.stops[k]), frame.right) - left;
    if (!(width >= SAME)) continue;
    context.fillStyle = colour("ignored");
    context.fillRect(left, 0, width, frame.bottom);
    context.save();
    context.beginPath();
    context.rect(left, 0, width, frame.bottom);
    context.clip();
    context.strokeStyle = colour("line");
    context.beginPath();
    const from = Math.floor(left / HATCH) * HATCH - frame.bottom;
    for (let x = from; x < left + width; x += HATCH) {
      context.moveTo(x, frame.bottom);
      context.lineTo(x + frame.bottom, 0);
    }
    context.stroke();
    context.restore();
    if (width < context.measureText("ignored").width + 12) continue;
    context.fillStyle = colour("ignored");
    const [middle, room] = [left + width / 2, context.measureText("ignored").width / 2 + 4];
    context.fillRect(middle - room, frame.bottom - 18, 2 * room, 16);
    context.fillStyle = colour("muted");
    context.fillText("ignored", middle, frame.bottom - 6);
  }
}

function name(context, text, frame, top, fill) {
  context.textAlign = "left";
  context.fillStyle = fill;
  context.fillText(text, frame.left + 4, top, frame.right - frame.left - 8);
}

export function drawLanes(context, view, frame) {
  context.font = `11px ${colour("font")}`;
  context.save();
  context.beginPath();
  context.rect(frame.left, 0, frame.right - frame.left, frame.bottom);
  context.clip();
  selection(context, view, frame);
  bands(context, view, frame);
  zones(context, view, frame);
  for (const lane of frame.lanes) {
    if (lane.detector === undefined) truthLane(context, view, frame, lane);
    else {
      context.fillStyle = detectorColour(lane.detector);
      bars(context, view.results[lane.detector].drawn, frame, lane);
    }
  }
  ignoredTime(context, view, frame);
  context.restore();
  for (const lane of frame.lanes) {
    const label = lane.detector === undefined ? "true events" : view.series.detectors[lane.detector].name;
    const fill = lane.detector === undefined ? colour("ink") : detectorColour(lane.detector);
    name(context, label, frame, lane.label, fill);
  }
  for (const panel of frame.panels) {
    if (panel.detectors.length === 1) {
      const [index] = panel.detectors;
      name(context, `score of ${view.series.detectors[index].name}`, frame, panel.top - 4, detectorColour(index));
    } else name(context, panel.label, frame, panel.top - 4, colour("muted"));
  }
}
