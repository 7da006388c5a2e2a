// The precision-recall curve: click a point of it, and the threshold moves there.

import { hideTooltip, make, showTooltip } from "./dom.js";
import { thresholdText } from "./predict.js";
import { colour, detectorColour, detectorDash, detectorVariable } from "./theme.js";
import { scoreText } from "./words.js";

const MARGIN = { l: 46, r: 14, t: 8, b: 40 };
const FULL = 1.02; // so that a line along 1 is not cut in half
const EQUAL_F1 = [0.2, 0.4, 0.6, 0.8];
const NEAR = 60; // pixels within which a click means a point

function equalF1(f1) {
  const recalls = Array.from({ length: 60 }, (_, k) => f1 / (2 - f1) + ((1 - f1 / (2 - f1)) * k) / 59);
  return {
    type: "scatter", mode: "lines", x: recalls, y: recalls.map((r) => (f1 * r) / (2 * r - f1)), hoverinfo: "skip",
    line: { color: colour("line"), width: 1, dash: "dot" },
  };
}

export class CurvePanel {
  constructor(view) {
    this.view = view;
    this.plot = make("div", { class: "plot" });
    this.dots = make("div", { class: "overlay" });
    this.stage = make("div", { class: "stage curve-stage" }, this.plot, this.dots);
    const scored = view.series.detectors.some((detector) => detector.curve);
    this.element = make(
      "section",
      { class: "panel curve", "aria-label": "precision-recall curve" },
      make("h2", {}, scored ? "Every threshold" : "Precision and recall"),
      make("p", { class: "hint" }, scored ? "Click the curve to move the threshold there. Dotted: equal F1." : "One point per detector. Dotted: equal F1."),
      this.stage,
    );
    this.stage.addEventListener("click", (event) => this.click(event));
    this.stage.addEventListener("pointermove", (event) => this.hover(event));
    this.stage.addEventListener("pointerleave", hideTooltip);
  }

  render() {
    const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
    if (!width) return;
    this.place = {
      x: (recall) => MARGIN.l + (recall / FULL) * (width - MARGIN.l - MARGIN.r),
      y: (precision) => MARGIN.t + (1 - precision / FULL) * (height - MARGIN.t - MARGIN.b),
    };
    if (window.Plotly) this.drawCurves(width, height);
    this.refresh();
  }

  drawCurves(width, height) {
    const axis = (title) => ({
      title: { text: title, font: { size: 12 }, standoff: 8 }, range: [0, FULL], fixedrange: true, zeroline: false,
      gridcolor: colour("grid"), linecolor: colour("line"), tickfont: { color: colour("muted"), size: 11 }, dtick: 0.2,
    });
    const traces = EQUAL_F1.map(equalF1);
    for (const index of this.view.shownDetectors()) {
      const { curve } = this.view.series.detectors[index];
      if (!curve) continue;
      // Steps, as the average precision sums them; the first starts at recall 0.
      traces.push({
        type: "scatter", mode: "lines", x: [0, ...curve.recall], y: [curve.precision[0], ...curve.precision], hoverinfo: "skip",
        line: { color: detectorColour(index), width: index === this.view.active ? 2.4 : 1.4, shape: "vh", dash: detectorDash(index) },
      });
    }
    Plotly.react(this.plot, traces, {
      width, height, margin: MARGIN, showlegend: false, hovermode: false, dragmode: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: colour("font"), color: colour("muted") },
      xaxis: axis("recall"), yaxis: axis("precision"),
    }, { displayModeBar: false, showTips: false });
  }

  refresh() {
    if (!this.place) return;
    const dots = [];
    for (const index of this.view.shownDetectors()) {
      const { precision, recall } = this.view.results[index];
      const active = index === this.view.active;
      const add = (name, p, r) => {
        if (Number.isNaN(p)) return;
        const style = `--swatch: ${detectorVariable(index)}; transform: translate(${this.place.x(r)}px, ${this.place.y(p)}px)`;
        dots.push(make("i", { class: `dot ${name}${active ? " active" : ""}`, style }));
      };
      const best = this.view.bestOf(index);
      if (best && !best.broken) add("best", best.precision, best.recall);
      add("now", precision, recall);
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
      const { curve } = this.view.series.detectors[index];
      if (!curve) continue;
      for (let k = 0; k < curve.thresholds.length; k++) {
        const away = Math.hypot(this.place.x(curve.recall[k]) - x, this.place.y(curve.precision[k]) - y);
        if (away < least) [least, found] = [away, { index, k, curve }];
      }
    }
    return found;
  }

  click(event) {
    const found = this.nearest(event);
    if (!found) return;
    this.view.activate(found.index);
    this.view.setThreshold(found.index, found.curve.thresholds[found.k]);
  }

  hover(event) {
    const found = this.place && this.nearest(event);
    this.stage.classList.toggle("clickable", Boolean(found));
    if (!found) {
      hideTooltip();
      return;
    }
    const detector = this.view.series.detectors[found.index];
    const { precision, recall, f1, thresholds } = found.curve;
    showTooltip(event.clientX, event.clientY, `threshold ${thresholdText(detector, thresholds[found.k])}`, [
      { text: detector.name, colour: detectorColour(found.index) },
      { text: `precision ${scoreText(precision[found.k])}, recall ${scoreText(recall[found.k])}, F1 ${scoreText(f1[found.k])}` },
    ]);
  }
}
