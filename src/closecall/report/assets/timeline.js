// The timeline: plotly's lines between the canvas of events and the threshold lines, and what the
// pointer is on, in words.

import { follow, hideTooltip, make, setText, sharpContext, showTooltip } from "./dom.js";
import { figureOf, frameOf } from "./figure.js";
import { drawLanes, eventAt, Overview, visibleEvents } from "./lanes.js";
import { lastAtMost, neighbour, thresholdText } from "./predict.js";
import { colour, detectorColour, detectorVariable } from "./theme.js";
import { numberText, outcome, scoreText } from "./words.js";

const CONFIG = { displayModeBar: false, doubleClick: false, responsive: false, showTips: false };
const FEWEST_SAMPLES = 4;
const AROUND = 40; // samples that are shown about a short event
const NEAR = 4; // pixels beside an alarm that still mean it
const STILL = 4; // pixels that a pointer moves while it clicks
const DIGITS = 6; // of a threshold that is dragged

// A line across a detector's scores that can be dragged, or moved with the arrow keys.

function yOf(threshold, panel, [low, high]) {
  const share = (high - threshold) / (high - low);
  return panel.top + Math.min(1, Math.max(0, share)) * panel.height;
}

function thresholdAt(y, panel, [low, high]) {
  const share = Math.min(1, Math.max(0, (y - panel.top) / panel.height));
  return Number((high - share * (high - low)).toPrecision(DIGITS));
}

class ThresholdLine {
  constructor(view, index) {
    this.view = view;
    this.detector = view.series.detectors[index];
    this.label = make("span", { class: "threshold-label" });
    this.element = make(
      "div",
      {
        class: "threshold-line", role: "slider", tabindex: "0", "aria-orientation": "vertical",
        "aria-label": `threshold of detector ${this.detector.name}`,
        style: `--swatch: ${detectorVariable(index)}`,
        pointerdown: (event) => this.grab(event),
        keydown: (event) => this.press(event),
      },
      this.label,
    );
  }

  place(panel, frame) {
    this.panel = panel;
    const { element, detector, view } = this;
    const threshold = view.thresholds[detector.index];
    element.style.left = `${frame.left}px`;
    element.style.width = `${frame.right - frame.left}px`;
    element.style.transform = `translateY(${yOf(threshold, panel, detector.range)}px)`;
    element.classList.toggle("active", detector.index === view.active);
    element.classList.toggle("shared", panel.detectors.length > 1);
    const text = thresholdText(detector, threshold);
    setText(this.label, text);
    element.setAttribute("aria-valuenow", String(threshold));
    element.setAttribute("aria-valuetext", text);
  }

  grab(event) {
    event.preventDefault();
    this.element.focus({ preventScroll: true });
    const { top } = this.element.parentElement.getBoundingClientRect();
    const move = (moved) => {
      const threshold = thresholdAt(moved.clientY - top, this.panel, this.detector.range);
      this.view.setThreshold(this.detector.index, threshold);
    };
    this.view.activate(this.detector.index);
    follow(this.element, event, move);
  }

  press(event) {
    const direction = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
    if (!direction) return;
    event.preventDefault();
    this.view.activate(this.detector.index);
    const now = this.view.thresholds[this.detector.index];
    this.view.setThreshold(this.detector.index, neighbour(this.detector, now, direction));
  }
}

function eventLines(view, j) {
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

const laneAt = (frame, y) => frame.lanes.find(({ top, height, above }) => y >= above && y <= top + height + 2);

function hover(timeline, event) {
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
  const lane = laneAt(frame, y);
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
  const j = lane ? eventAt(view, frame, x) : hit(view.series.drawn.truth, frame, x);
  const at = sampleAt(view.series, offset);
  if (j !== null) {
    const more = lane ? [] : sampleLines(view, at);
    showTooltip(event.clientX, event.clientY, `Event ${j + 1}`, [...eventLines(view, j), ...more]);
    return;
  }
  const moment = view.series.clock.moment(at === null ? offset : view.series.drawn.borders[at]);
  showTooltip(event.clientX, event.clientY, moment, sampleLines(view, at));
}

export class Timeline {
  constructor(view) {
    this.view = view;
    this.window = [...view.series.drawn.span];
    this.usual = this.window; // that nobody zoomed or moved
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.plot = make("div", { class: "plot" });
    this.overlay = make("div", { class: "overlay" });
    this.crosshair = make("div", { class: "crosshair", hidden: true });
    this.stage = make("div", { class: "stage" }, this.plot, this.canvas, this.overlay, this.crosshair);
    this.overview = new Overview(view, (from, to) => this.show(from, to));
    this.element = make(
      "section",
      { class: "panel timeline", "aria-label": "timeline" },
      this.toolbar(),
      this.stage,
      this.overview.element,
    );
    this.lines = new Map();
    view.series.detectors.forEach((detector, index) => {
      if (detector.scores) this.lines.set(index, new ThresholdLine(view, index));
    });
    this.stage.addEventListener("pointermove", (event) => hover(this, event));
    this.stage.addEventListener("pointerleave", () => this.leave());
    this.stage.addEventListener("pointerdown", (event) => this.press(event), { capture: true });
    this.stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  toolbar() {
    const button = (label, text, act) => make("button", { type: "button", "aria-label": label, title: label, click: act }, text);
    const zoom = (factor) => () => this.zoom(factor);
    const move = (share) => () => this.move(share);
    const layouts = make("span", { class: "choice", role: "group", "aria-label": "score panels" });
    for (const [layout, text] of [["stack", "stacked"], ["overlay", "overlaid"]]) {
      layouts.append(make("button", { type: "button", "data-layout": layout, click: () => this.view.setLayout(layout) }, text));
    }
    layouts.hidden = this.view.series.detectors.filter((detector) => detector.scores).length < 2;
    this.layouts = layouts;
    this.where = make("output", { class: "where" });
    return make(
      "div",
      { class: "toolbar" },
      make("h2", {}, "Timeline"),
      this.where,
      layouts,
      make(
        "span",
        { class: "choice", role: "group", "aria-label": "zoom and move" },
        button("previous event", "◂ event", () => this.view.step(-1)),
        button("next event", "event ▸", () => this.view.step(1)),
        button("move left", "←", move(-0.5)),
        button("move right", "→", move(0.5)),
        button("zoom in", "+", zoom(0.5)),
        button("zoom out", "−", zoom(2)),
        button("all: show everything", "all", () => this.show(...this.view.series.drawn.span)),
      ),
    );
  }

  // Show a window of offsets, with as much detail as it has.
  show(from, to) {
    const [start, stop] = this.view.series.drawn.span;
    const least = this.shortest();
    const width = Math.min(Math.max(to - from, least), stop - start);
    const left = Math.min(Math.max((from + to - width) / 2, start), stop - width);
    this.window = [left, left + width];
    this.view.changed();
    this.render();
  }

  // Show everything, as at first.
  reset() {
    this.show(...this.view.series.drawn.span);
    this.usual = this.window;
  }

  shortest() {
    const [start, stop] = this.view.series.drawn.span;
    const { borders } = this.view.series;
    const samples = borders ? borders.length - 1 : 1000;
    return ((stop - start) / samples) * Math.min(FEWEST_SAMPLES, samples);
  }

  zoom(factor, centre = (this.window[0] + this.window[1]) / 2) {
    const [from, to] = this.window;
    this.show(centre + (from - centre) * factor, centre + (to - centre) * factor);
  }

  move(share) {
    const [from, to] = this.window;
    this.show(from + (to - from) * share, to + (to - from) * share);
  }

  // Go to one event: wide enough to see what came before and after it.
  goTo(j) {
    const { truth, zones } = this.view.series.drawn;
    const [a, b] = [truth.starts[j], truth.stops[j]];
    const sample = this.shortest() / FEWEST_SAMPLES;
    const room = Math.min(Math.max(2.5 * (b - a), AROUND * sample), 0.6 * (zones[j + 1] - zones[j]));
    this.show(a - Math.max(room, sample), b + Math.max(room, sample));
    this.usual = this.window;
  }

  // Scroll until the plot is on the screen; if it is too tall, its lanes of events.
  reveal() {
    const { element } = this.view.slider;
    const covered = getComputedStyle(element).position === "sticky" ? element.offsetHeight : 0;
    const { top, bottom } = this.stage.getBoundingClientRect();
    if (top >= covered && bottom <= innerHeight) return;
    const fits = bottom - top <= innerHeight - covered;
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    this.stage.style.scrollMarginTop = `${covered + 8}px`;
    this.stage.scrollIntoView({ block: fits ? "start" : "end", behavior });
  }

  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const x = event.clientX - this.stage.getBoundingClientRect().left;
      this.zoom(Math.exp(event.deltaY * 0.004), this.frame.offset(x));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.move(event.deltaX / (this.frame.right - this.frame.left));
    }
  }

  // A click on the lane of true events goes to the one that is there; a drag zooms, as everywhere.
  press(down) {
    const { left, top } = this.stage.getBoundingClientRect();
    const lane = this.frame && laneAt(this.frame, down.clientY - top);
    const j = lane && lane.detector === undefined ? eventAt(this.view, this.frame, down.clientX - left) : null;
    if (j === null) return;
    const over = new AbortController();
    const listen = (name, act) => addEventListener(name, act, { capture: true, signal: over.signal });
    listen("pointercancel", () => over.abort()); // a finger that scrolls the page
    listen("pointerup", (up) => {
      over.abort();
      if (Math.hypot(up.clientX - down.clientX, up.clientY - down.clientY) < STILL) this.view.select(j);
    });
  }

  leave() {
    this.crosshair.hidden = true;
    hideTooltip();
  }

  // Draw everything anew: the window, the detectors shown or the theme changed.
  render() {
    const width = this.stage.clientWidth;
    if (!width) return;
    this.frame = frameOf(this.view, width, this.window);
    this.stage.style.height = `${this.frame.height}px`;
    this.drawLines(width);
    this.overlay.replaceChildren(...this.shownLines().map((line) => line.element));
    for (const button of this.layouts.children) {
      button.setAttribute("aria-pressed", String(button.dataset.layout === this.view.layout));
    }
    const { clock } = this.view.series;
    const zone = clock.zone ? ` (${clock.zone})` : "";
    this.where.textContent = `${clock.moment(this.window[0])} to ${clock.moment(this.window[1])}${zone}`;
    this.refresh();
  }

  drawLines(width) {
    if (!window.Plotly) return;
    const { data, layout } = figureOf(this.view, this.frame, width);
    const first = !this.plot.on;
    Plotly.react(this.plot, data, layout, CONFIG);
    if (first) this.listen();
  }

  // Draw what follows the threshold: the lanes and the lines.
  refresh() {
    const { frame } = this;
    if (!frame) return;
    drawLanes(sharpContext(this.canvas, frame.right + 14, frame.height), this.view, frame);
    for (const line of this.shownLines()) line.place(this.panelOf(line), frame);
    this.overview.draw(this.window, frame);
  }

  shownLines() {
    return [...this.lines.values()].filter((line) => this.panelOf(line));
  }

  panelOf(line) {
    return this.frame.panels.find((panel) => panel.detectors.includes(line.detector.index));
  }

  listen() {
    const rangeOf = (event) => ["xaxis.range[0]", "xaxis.range[1]"].map((key) => Number(event[key]));
    this.plot.on("plotly_relayout", (event) => {
      if ("xaxis.range[0]" in event) this.show(...rangeOf(event));
    });
    this.plot.on("plotly_relayouting", (event) => {
      if (!("xaxis.range[0]" in event)) return;
      this.frame = frameOf(this.view, this.stage.clientWidth, rangeOf(event));
      this.refresh();
    });
    this.plot.on("plotly_doubleclick", () => this.show(...this.view.series.drawn.span));
  }
}
