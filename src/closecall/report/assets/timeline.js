// The timeline: plotly's lines between the canvas of events and the threshold lines.

import { hideTooltip, make, sharpContext } from "./dom.js";
import { figureOf, frameOf } from "./figure.js";
import { hover } from "./hover.js";
import { drawLanes } from "./lanes.js";
import { Overview } from "./overview.js";
import { ThresholdLine } from "./threshold_line.js";

const CONFIG = { displayModeBar: false, doubleClick: false, responsive: false, showTips: false };
const FEWEST_SAMPLES = 4;
const AROUND = 40; // samples that are shown about a short event

export class Timeline {
  constructor(view) {
    this.view = view;
    this.window = [...view.series.drawn.span];
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
    this.stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  toolbar() {
    const button = (label, text, act) => make("button", { type: "button", "aria-label": label, title: label, click: act }, text);
    const zoom = (factor) => () => this.zoom(factor);
    const move = (share) => () => this.move(share);
    const layouts = make("span", { class: "choice", role: "group", "aria-label": "score panels" });
    for (const [layout, text] of [["stack", "side by side"], ["overlay", "overlaid"]]) {
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
        button("show everything", "all", () => this.show(...this.view.series.drawn.span)),
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
    this.render();
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
