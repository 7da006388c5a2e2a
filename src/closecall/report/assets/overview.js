// The whole span in a strip, with the window on it: drag the window, or tap where to go.

import { follow, make, sharpContext } from "./dom.js";
import { drawBars } from "./lanes.js";
import { colour, detectorColour } from "./theme.js";

const HEIGHT = 30;

export class Overview {
  constructor(view, show) {
    this.view = view;
    this.show = show;
    this.element = make("canvas", { class: "overview", "aria-hidden": "true", height: HEIGHT });
    this.element.addEventListener("pointerdown", (event) => this.grab(event));
  }

  draw(window, frame) {
    const { series } = this.view;
    const [start, stop] = series.drawn.span;
    this.frame = frame;
    this.window = window;
    this.x = (offset) => frame.left + ((offset - start) / (stop - start)) * (frame.right - frame.left);
    const context = sharpContext(this.element, frame.right + 14, HEIGHT);
    const bars = (events, top, fill) => {
      context.fillStyle = fill;
      drawBars(context, events, [0, events.starts.length], this.x, { top, height: 7, thinnest: 1.5 });
    };
    context.fillStyle = colour("grid");
    context.fillRect(frame.left, 4, frame.right - frame.left, HEIGHT - 8);
    bars(series.drawn.truth, 7, colour("truth"));
    bars(this.view.results[this.view.active].drawn, 16, detectorColour(this.view.active));
    if (series.ignored) {
      context.fillStyle = colour("ignored");
      const { starts, stops } = series.ignored;
      starts.forEach((from, k) => context.fillRect(this.x(from), 4, this.x(stops[k]) - this.x(from), HEIGHT - 8));
    }
    const [left, right] = window.map(this.x);
    context.fillStyle = colour("veil");
    context.fillRect(frame.left, 4, left - frame.left, HEIGHT - 8);
    context.fillRect(right, 4, frame.right - right, HEIGHT - 8);
    context.strokeStyle = colour("accent");
    context.lineWidth = 2;
    context.strokeRect(left, 3, Math.max(right - left, 3), HEIGHT - 6);
  }

  grab(event) {
    const box = this.element.getBoundingClientRect();
    const [start, stop] = this.view.series.drawn.span;
    const offset = (moved) =>
      start + ((moved.clientX - box.left - this.frame.left) / (this.frame.right - this.frame.left)) * (stop - start);
    const width = this.window[1] - this.window[0];
    const at = offset(event);
    const inside = this.window[0] <= at && at <= this.window[1];
    const held = inside ? at - this.window[0] : width / 2;
    const move = (moved) => this.show(offset(moved) - held, offset(moved) - held + width);
    if (!inside) move(event);
    follow(this.element, event, move);
  }
}
