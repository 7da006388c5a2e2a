// The canvas under the lines: true events and their zones, and one lane of alarms per detector; and the
// strip of the whole span, with the window on it.

import { follow, make, sharpContext } from "./dom.js";
import { laneFont, textWidth, TRUE_EVENTS } from "./figure.js";
import { lowerBound } from "./predict.js";
import { OUTCOMES } from "./score.js";
import { colour, detectorColour } from "./theme.js";

const THINNEST = 2; // pixels; no event is lost from sight
const MARKED = 3; // pixels; a narrower event has a mark above it, which tells its outcome
const MARK = 3.5; // pixels from the middle of a mark to its edge
const NEAR = 6; // pixels beside an event that still mean it
const SAME = 0.3; // pixels; a gap that small cannot be seen
const ZONE = 12; // pixels on average, below which borders of zones would hide the rest
const HATCH = 8; // pixels between the lines of ignored time

// Events of a sorted list that a window shows, as [first, after].
export function visibleEvents({ starts, stops }, from, to) {
  return [lowerBound(stops, from), lowerBound(starts, to)];
}

// The true event that a pixel means: the one under it, else the nearest; the worst of those at one place.
export function eventAt(view, { x, offset }, pixel) {
  const { truth } = view.series.drawn;
  const { outcome } = view.results[view.active].rows;
  const [first, after] = visibleEvents(truth, offset(pixel - NEAR), offset(pixel + NEAR));
  let found = null;
  let least = Infinity;
  for (let j = first; j < after; j++) {
    const [left, right] = [x(truth.starts[j]), x(truth.stops[j])];
    const away = Math.max(left - pixel, pixel - right, 0);
    const rank = (right - left < MARKED ? Math.round(away / MARKED) : away) + outcome[j] / OUTCOMES.length;
    if (rank < least) [least, found] = [rank, j];
  }
  return found;
}

// Draw bars from one event to another; what shares a pixel is one bar.
function drawBars(context, events, [first, after], x, { top, height, thinnest = THINNEST }) {
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
  context.fillStyle = colour("band");
  for (const panel of frame.panels) bars(context, view.series.drawn.truth, frame, panel);
}

function zones(context, view, frame) {
  const borders = view.series.drawn.zones;
  const [first, after] = [lowerBound(borders, frame.from), lowerBound(borders, frame.to)];
  if ((after - first) * ZONE > frame.right - frame.left) return;
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

const outcomeColours = () => OUTCOMES.map((name) => colour(name.replace(" ", "-")));

// A disc for a caught event, an open diamond for a close call, a cross for a missed one.
function mark(context, kind, x, y) {
  context.beginPath();
  if (kind === "caught") {
    context.arc(x, y, MARK - 0.5, 0, 2 * Math.PI);
    context.fill();
  } else if (kind === "close call") {
    [[0, -1], [1, 0], [0, 1], [-1, 0]].forEach(([dx, dy]) => context.lineTo(x + dx * MARK, y + dy * MARK));
    context.closePath();
    context.stroke();
  } else {
    for (const side of [-1, 1]) {
      context.moveTo(x - MARK, y - side * MARK);
      context.lineTo(x + MARK, y + side * MARK);
    }
    context.stroke();
  }
}

// Marks over the events that are too narrow to be seen; of those at one place, the worst is on top.
function drawMarks(context, { truth, outcome, visible: [first, after], x, y, colours }) {
  context.lineWidth = 2;
  for (let code = OUTCOMES.length - 1; code >= 0; code--) {
    context.fillStyle = context.strokeStyle = colours[code];
    let last = -Infinity;
    for (let j = first; j < after; j++) {
      const left = x(truth.starts[j]);
      if (outcome[j] !== code || x(truth.stops[j]) - left >= MARKED || left < last + 1) continue;
      mark(context, OUTCOMES[code], left + 1, y);
      last = left;
    }
  }
  context.lineWidth = 1;
}

// The true events: filled if the active detector caught them, hollow if not, red if it missed them.
function truthLane(context, view, frame, lane) {
  const { truth } = view.series.drawn;
  const { outcome } = view.results[view.active].rows;
  const visible = visibleEvents(truth, frame.from, frame.to);
  const colours = outcomeColours();
  const [page, ink] = [colour("page"), colour("ink")];
  const y = lane.strip + 5;
  let free = frame.left; // from where on something may be written
  context.textAlign = "center";
  for (let j = visible[0]; j < visible[1]; j++) {
    const left = Math.max(frame.x(truth.starts[j]), frame.left - 4);
    const width = Math.min(frame.x(truth.stops[j]), frame.right + 4) - left;
    const caught = OUTCOMES[outcome[j]] === "caught";
    context.fillStyle = colours[outcome[j]];
    context.fillRect(left, lane.top, Math.max(width, THINNEST), lane.height);
    if (!caught && width > 5) context.clearRect(left + 1.5, lane.top + 1.5, width - 3, lane.height - 3);
    const text = String(j + 1);
    const room = 4 + 7 * text.length;
    const marked = width < MARKED;
    const inside = width >= room;
    const middle = marked ? left + MARK + room / 2 + 2 : Math.min(Math.max(left + width / 2, frame.left + 8), frame.right - 8);
    const next = j + 1 < visible[1] && !inside ? frame.x(truth.starts[j + 1]) - MARK - 2 : Infinity;
    const start = middle - room / 2;
    if ((!inside && start < free) || start + room > Math.min(next, frame.right)) {
      if (marked) free = Math.max(free, left + MARK + 3);
      continue;
    }
    if (!inside) free = start + room;
    context.fillStyle = inside && caught ? page : caught ? ink : colours[outcome[j]];
    context.fillText(text, middle, inside ? lane.top + lane.height - 2 : y + 4);
  }
  drawMarks(context, { truth, outcome, visible, x: frame.x, y, colours });
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
    const room = textWidth("ignored") + 8;
    if (width < room + 4) continue;
    const middle = left + width / 2;
    context.fillStyle = colour("ignored");
    context.fillRect(middle - room / 2, frame.bottom - 18, room, 16);
    context.fillStyle = colour("muted");
    context.fillText("ignored", middle, frame.bottom - 6);
  }
}

// As much of a text as has room.
function shortened(text, room) {
  if (textWidth(text) <= room) return text;
  let kept = text.length;
  while (kept > 1 && textWidth(`${text.slice(0, kept)}…`) > room) kept--;
  return `${text.slice(0, kept)}…`;
}

// Beside its lane, or above it where the window is narrow: never on the data.
function laneName(context, text, frame, lane, fill) {
  context.fillStyle = fill;
  context.textAlign = frame.beside ? "right" : "left";
  if (frame.beside) context.fillText(shortened(text, frame.left - 10), frame.left - 7, lane.top + lane.height - 1);
  else context.fillText(shortened(text, frame.right - 4), 4, lane.above + 11);
}

function panelName(context, text, frame, panel, fill) {
  context.fillStyle = fill;
  context.textAlign = "left";
  context.fillText(shortened(text, frame.right - frame.left), frame.left, panel.top - 4);
}

export function drawLanes(context, view, frame) {
  context.font = laneFont();
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
  const { detectors } = view.series;
  for (const lane of frame.lanes) {
    if (lane.detector === undefined) laneName(context, TRUE_EVENTS, frame, lane, colour("ink"));
    else laneName(context, detectors[lane.detector].name, frame, lane, detectorColour(lane.detector));
  }
  for (const panel of frame.panels) {
    const [index, other] = panel.detectors;
    const alone = index !== undefined && other === undefined;
    panelName(context, alone ? `score of detector ${detectors[index].name}` : panel.label, frame, panel, alone ? detectorColour(index) : colour("muted"));
  }
}

const OVERVIEW = { height: 38, marks: 7, truth: 14, alarms: 24, lane: 7 };

// The whole span in a strip, with the window on it: drag the window, tap where to go, or tap an event.
export class Overview {
  constructor(view, show) {
    this.view = view;
    this.show = show;
    this.element = make("canvas", { class: "overview", "aria-hidden": "true", height: OVERVIEW.height });
    this.element.addEventListener("pointerdown", (event) => this.grab(event));
  }

  draw(window, frame) {
    const { series, results, active } = this.view;
    const [start, stop] = series.drawn.span;
    const { height, marks, truth: top, alarms, lane } = OVERVIEW;
    const width = frame.right - frame.left;
    this.window = window;
    this.x = (offset) => frame.left + ((offset - start) / (stop - start)) * width;
    this.offset = (x) => start + ((x - frame.left) / width) * (stop - start);
    const context = sharpContext(this.element, frame.right + 14, height);
    context.fillStyle = colour("grid");
    context.fillRect(frame.left, 2, width, height - 4);
    const { truth } = series.drawn;
    const { outcome } = results[active].rows;
    const [colours, all] = [outcomeColours(), [0, truth.starts.length]];
    // The worst comes last, over what shares its pixel.
    for (let code = colours.length - 1; code >= 0; code--) {
      const events = { starts: truth.starts.filter((_, j) => outcome[j] === code), stops: truth.stops.filter((_, j) => outcome[j] === code) };
      context.fillStyle = colours[code];
      drawBars(context, events, [0, events.starts.length], this.x, { top, height: lane, thinnest: 1.5 });
    }
    drawMarks(context, { truth, outcome, visible: all, x: this.x, y: marks, colours });
    const predicted = results[active].drawn;
    context.fillStyle = detectorColour(active);
    drawBars(context, predicted, [0, predicted.starts.length], this.x, { top: alarms, height: lane, thinnest: 1.5 });
    if (series.ignored) {
      context.fillStyle = colour("ignored");
      const { starts, stops } = series.ignored;
      starts.forEach((from, k) => context.fillRect(this.x(from), 2, this.x(stops[k]) - this.x(from), height - 4));
    }
    const [left, right] = window.map(this.x);
    context.fillStyle = colour("veil");
    context.fillRect(frame.left, 2, left - frame.left, height - 4);
    context.fillRect(right, 2, frame.right - right, height - 4);
    context.strokeStyle = colour("accent");
    context.lineWidth = 2;
    context.strokeRect(left, 1, Math.max(right - left, 3), height - 2);
  }

  grab(event) {
    const box = this.element.getBoundingClientRect();
    const offset = (moved) => this.offset(moved.clientX - box.left);
    const width = this.window[1] - this.window[0];
    const at = offset(event);
    const marked = event.clientY - box.top < OVERVIEW.truth + OVERVIEW.lane ? eventAt(this.view, this, event.clientX - box.left) : null;
    if (marked !== null) {
      this.view.select(marked);
      return;
    }
    const inside = this.window[0] <= at && at <= this.window[1];
    const held = inside ? at - this.window[0] : width / 2;
    const move = (moved) => this.show(offset(moved) - held, offset(moved) - held + width);
    if (!inside) move(event);
    follow(this.element, event, move);
  }
}
