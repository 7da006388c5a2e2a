// A line across a detector's scores that can be dragged, or moved with the arrow keys.

import { follow, make, setText } from "./dom.js";
import { neighbour, thresholdText } from "./predict.js";
import { detectorVariable } from "./theme.js";

const DIGITS = 6;

function yOf(threshold, panel, [low, high]) {
  const share = (high - threshold) / (high - low);
  return panel.top + Math.min(1, Math.max(0, share)) * panel.height;
}

function thresholdAt(y, panel, [low, high]) {
  const share = Math.min(1, Math.max(0, (y - panel.top) / panel.height));
  return Number((high - share * (high - low)).toPrecision(DIGITS));
}

export class ThresholdLine {
  constructor(view, index) {
    this.view = view;
    this.detector = view.series.detectors[index];
    this.label = make("span", { class: "threshold-label" });
    this.element = make(
      "div",
      {
        class: "threshold-line", role: "slider", tabindex: "0", "aria-orientation": "vertical",
        "aria-label": `threshold of ${this.detector.name}`,
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
