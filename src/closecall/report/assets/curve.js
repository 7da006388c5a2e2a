// Every threshold: precision against recall, and events caught against false alarms. Click a point of
// either, and the threshold moves there.

import { hideTooltip, make, showTooltip } from "./dom.js";
import { thresholdText } from "./predict.js";
import { colour, detectorColour, detectorDash, detectorVariable } from "./theme.js";
import { counted, general, rateText, rateUnit, scoreText } from "./words.js";

const MARGIN = { l: 46, r: 14, t: 8, b: 36 };
const FULL = 1.02; // so that a line along 1 is not cut in half
const EQUAL_F1 = [0.2, 0.4, 0.6, 0.8];
const NEAR = 60; // pixels within which a click means a point
const LINEAR = 12; // false alarms up to which their axis is even

// One plot of points of the curves; a subclass says what they are.
class Plot {
  constructor(view, title, hint) {
    this.view = view;
    this.plot = make("div", { class: "plot" });
    this.dots = make("div", { class: "overlay" });
    this.stage = make("div", { class: "stage curve-stage" }, this.plot, this.dots);
    this.element = make("div", { class: "curve-plot" }, make("h2", {}, title), make("p", { class: "hint" }, hint), this.stage);
    this.stage.addEventListener("click", (event) => this.click(event));
    this.stage.addEventListener("pointermove", (event) => this.hover(event));
    this.stage.addEventListener("pointerleave", hideTooltip);
  }

  render() {
    const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
    if (!width) return;
    this.measure();
    const { most } = this;
    this.place = {
      x: (value) => MARGIN.l + (this.across(value) / most.x) * (width - MARGIN.l - MARGIN.r),
      y: (value) => MARGIN.t + (1 - value / most.y) * (height - MARGIN.t - MARGIN.b),
    };
    if (window.Plotly) this.draw(width, height);
    this.refresh();
  }

  // How far the axes go.
  measure() {
    this.most = { x: FULL, y: FULL };
  }

  across(value) {
    return value;
  }

  axis(title, range, ticks) {
    return {
      title: { text: title, font: { size: 12 }, standoff: 6 }, range: [0, range], fixedrange: true, zeroline: false,
      gridcolor: colour("grid"), linecolor: colour("line"), tickfont: { color: colour("muted"), size: 11 }, ...ticks,
    };
  }

  draw(width, height) {
    const traces = this.background();
    for (const index of this.view.shownDetectors()) {
      const line = this.line(index);
      if (!line) continue;
      traces.push({
        type: "scatter", mode: "lines", hoverinfo: "skip", x: line.x, y: line.y,
        line: { color: detectorColour(index), width: index === this.view.active ? 2.4 : 1.4, shape: line.shape, dash: detectorDash(index) },
      });
    }
    Plotly.react(this.plot, traces, {
      width, height, margin: MARGIN, showlegend: false, hovermode: false, dragmode: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: colour("font"), color: colour("muted") },
      ...this.axes(),
    }, { displayModeBar: false, showTips: false });
  }

  // A ring where the best F1 is, and a dot where the threshold is now.
  refresh() {
    if (!this.place) return;
    const dots = [];
    for (const index of this.view.shownDetectors()) {
      const active = index === this.view.active;
      const add = (name, [x, y]) => {
        if (Number.isNaN(x) || Number.isNaN(y)) return;
        const style = `--swatch: ${detectorVariable(index)}; transform: translate(${this.place.x(x)}px, ${this.place.y(y)}px)`;
        dots.push(make("i", { class: `dot ${name}${active ? " active" : ""}`, style }));
      };
      const best = this.view.bestOf(index);
      if (best && !best.broken) add("best", this.of(best));
      add("now", this.of(this.view.results[index]));
    }
    this.dots.replaceChildren(...dots);
  }

  // The point of any curve that is nearest to the pointer.
  nearest(event) {
    const box = this.stage.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let found = null;
    let least = NEAR;
    for (const index of this.view.shownDetectors()) {
      const points = this.points(index);
      if (!points) continue;
      for (let k = 0; k < points.thresholds.length; k++) {
        const away = Math.hypot(this.place.x(points.x[k]) - x, this.place.y(points.y[k]) - y);
        if (away < least) [least, found] = [away, { index, k, threshold: points.thresholds[k] }];
      }
    }
    return found;
  }

  click(event) {
    const found = this.nearest(event);
    if (!found) return;
    this.view.activate(found.index);
    this.view.setThreshold(found.index, found.threshold);
  }

  hover(event) {
    const found = this.place && this.nearest(event);
    this.stage.classList.toggle("clickable", Boolean(found));
    if (!found) {
      hideTooltip();
      return;
    }
    const detector = this.view.series.detectors[found.index];
    showTooltip(event.clientX, event.clientY, `threshold ${thresholdText(detector, found.threshold)}`, [
      { text: detector.name, colour: detectorColour(found.index) },
      { text: this.tell(found) },
    ]);
  }
}

function equalF1(f1) {
  const recalls = Array.from({ length: 60 }, (_, k) => f1 / (2 - f1) + ((1 - f1 / (2 - f1)) * k) / 59);
  return {
    type: "scatter", mode: "lines", x: recalls, y: recalls.map((r) => (f1 * r) / (2 * r - f1)), hoverinfo: "skip",
    line: { color: colour("line"), width: 1, dash: "dot" },
  };
}

class PrecisionRecall extends Plot {
  constructor(view, scored) {
    const does = scored ? "Click the curve to move the threshold there." : "One point per detector.";
    super(view, "Precision and recall", `${does} F1 is equal along the dotted lines.`);
  }

  background() {
    return EQUAL_F1.map(equalF1);
  }

  // Steps, as the average precision sums them; the first starts at recall 0.
  line(index) {
    const { curve } = this.view.series.detectors[index];
    return curve && { x: [0, ...curve.recall], y: [curve.precision[0], ...curve.precision], shape: "vh" };
  }

  axes() {
    return { xaxis: this.axis("recall", FULL, { dtick: 0.2 }), yaxis: this.axis("precision", FULL, { dtick: 0.2 }) };
  }

  of({ precision, recall }) {
    return [recall, precision];
  }

  points(index) {
    const { curve } = this.view.series.detectors[index];
    return curve && { x: curve.recall, y: curve.precision, thresholds: curve.thresholds };
  }

  tell({ index, k }) {
    const { precision, recall, f1 } = this.view.series.detectors[index].curve;
    return `precision ${scoreText(precision[k])}, recall ${scoreText(recall[k])}, F1 ${scoreText(f1[k])}`;
  }
}

// The free-response curve: the most events that thresholds catch at a price in false alarms.
class FreeResponse extends Plot {
  constructor(view) {
    super(view, "Events caught and false alarms", "The most that thresholds catch at each price. Click to move the threshold there.");
  }

  // Up to where any curve rises, in false alarms; beyond a dozen, doublings are equally far apart.
  measure() {
    const { detectors, truth } = this.view.series;
    const ends = this.view.shownDetectors().map((index) => detectors[index].free?.falseAlarms.at(-1) ?? this.view.results[index].falseAlarms);
    this.highest = Math.max(1, ...ends);
    this.most = { x: this.across(this.highest) * 1.06, y: truth.starts.length * 1.06 };
  }

  across(count) {
    const kept = Math.min(count, this.highest * 1.04); // a threshold far beyond stands at the edge
    return this.highest > LINEAR ? Math.log2(1 + kept) : kept;
  }

  background() {
    return [];
  }

  line(index) {
    const { free } = this.view.series.detectors[index];
    if (!free) return null;
    const counts = [0, ...free.falseAlarms, this.highest * 1.04];
    return { x: counts.map((count) => this.across(count)), y: [0, ...free.caught, free.caught.at(-1)], shape: "hv" };
  }

  axes() {
    const { clock, span, truth } = this.view.series;
    const length = clock.evaluated(span[1] - span[0]);
    const [unit, size] = rateUnit(this.highest, length, clock.dated);
    const step = 10 ** Math.floor(Math.log10(this.highest * (size / length)));
    const rates = this.highest > LINEAR ? [0, 0.01, 0.03, 0.1, 0.3, 1, 3].map((k) => k * step) : [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((k) => k * step);
    const kept = rates.map((rate) => [rate, (rate * length) / size]).filter(([rate, count]) => count <= this.highest && (rate === 0 || count >= 0.9));
    const every = Math.ceil(kept.length / 6);
    const ticks = kept.filter((_, k) => k % every === 0);
    const events = truth.starts.length;
    return {
      xaxis: this.axis(`false alarms ${unit}`, this.most.x, { tickvals: ticks.map(([, count]) => this.across(count)), ticktext: ticks.map(([rate]) => general(rate, 2)) }),
      yaxis: this.axis(`events caught, of ${events}`, this.most.y, { dtick: Math.ceil(events / 5) }),
    };
  }

  of({ caught, falseAlarms }) {
    return [falseAlarms, caught];
  }

  points(index) {
    const { free } = this.view.series.detectors[index];
    return free && { x: free.falseAlarms, y: free.caught, thresholds: free.thresholds };
  }

  tell({ index, k }) {
    const { detectors, clock, span, truth } = this.view.series;
    const { caught, falseAlarms } = detectors[index].free;
    const rate = rateText(falseAlarms[k], "false alarm", clock.evaluated(span[1] - span[0]), clock.dated);
    return `${caught[k]} of ${counted(truth.starts.length, "event")} caught, ${rate}`;
  }
}

export class CurvePanel {
  constructor(view) {
    const scored = view.series.detectors.some((detector) => detector.curve);
    this.plots = [new PrecisionRecall(view, scored), ...(scored ? [new FreeResponse(view)] : [])];
    this.element = make("section", { class: "panel curve", "aria-label": "curves" }, ...this.plots.map(({ element }) => element));
  }

  render() {
    for (const plot of this.plots) plot.render();
  }

  refresh() {
    for (const plot of this.plots) plot.refresh();
  }
}
