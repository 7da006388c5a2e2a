// The threshold of the active detector: a slider along its curve, single steps, and the number.

import { make, setText } from "./dom.js";
import { LimitInputs } from "./limits.js";
import { neighbour, thresholdText } from "./predict.js";
import { detectorVariable } from "./theme.js";

export class Slider {
  constructor(view) {
    this.view = view;
    this.range = make("input", { type: "range", id: "threshold-slider", min: "0", step: "1", "aria-label": "threshold", input: () => this.slide() });
    this.number = make("input", { type: "text", inputmode: "decimal", class: "number", "aria-label": "threshold, as a number", spellcheck: "false", autocomplete: "off", change: () => this.type() });
    const step = (direction, label, text) =>
      make("button", { type: "button", "aria-label": label, title: label, click: () => this.step(direction) }, text);
    this.limits = new LimitInputs(view);
    this.name = make("label", { for: "threshold-slider" });
    this.element = make(
      "section",
      { class: "panel slider", "aria-label": "threshold" },
      this.name,
      make("span", { class: "choice" }, step(-1, "next lower score: predict more", "−"), this.number, step(1, "next higher score: predict less", "+")),
      make("span", { class: "end" }, "more alarms"),
      this.range,
      make("span", { class: "end" }, "fewer alarms"),
      this.limits.element,
    );
  }

  get detector() {
    return this.view.series.detectors[this.view.active];
  }

  // Stops of the slider are exact points of the curve, evenly spread along it.
  slide() {
    const { thresholds } = this.detector.curve;
    this.view.setThreshold(this.view.active, thresholds[thresholds.length - 1 - Number(this.range.value)]);
  }

  step(direction) {
    this.view.setThreshold(this.view.active, neighbour(this.detector, this.view.thresholds[this.view.active], direction));
  }

  type() {
    const text = this.number.value.trim().toLowerCase();
    const infinite = { inf: Infinity, "+inf": Infinity, "-inf": -Infinity }[text];
    const threshold = infinite ?? (text === "" ? NaN : Number(text));
    if (Number.isNaN(threshold)) this.refresh();
    else this.view.setThreshold(this.view.active, threshold);
  }

  // The stop whose threshold is the highest that is not above the present one.
  position(threshold) {
    const { thresholds } = this.detector.curve;
    const at = thresholds.findIndex((one) => one <= threshold);
    return thresholds.length - 1 - (at < 0 ? thresholds.length - 1 : at);
  }

  refresh() {
    const { detector, view } = this;
    const scored = Boolean(detector.scores);
    this.element.classList.toggle("without", !scored);
    for (const control of this.element.querySelectorAll("input, button")) control.disabled = !scored;
    this.element.style.setProperty("--swatch", detectorVariable(view.active));
    setText(this.name, view.series.detectors.length > 1 ? `Threshold of ${detector.name}` : "Threshold");
    this.limits.refresh();
    if (!scored) {
      this.number.value = "none";
      return;
    }
    const threshold = view.thresholds[view.active];
    const text = thresholdText(detector, threshold);
    this.range.max = String(detector.curve.thresholds.length - 1);
    this.range.value = String(this.position(threshold));
    this.range.setAttribute("aria-valuetext", text);
    this.number.value = text;
  }
}
