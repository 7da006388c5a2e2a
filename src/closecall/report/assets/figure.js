// Where everything on the timeline stands, in pixels, and the figure that plotly draws there.

import { finiteRange, outline, visibleSamples } from "./downsample.js";
import { lowerBound } from "./predict.js";
import { colour, detectorColour, detectorDash } from "./theme.js";
import { ticksOf } from "./ticks.js";

const MARGIN = { left: 56, right: 14, bottom: 40 };
const HEIGHTS = { values: 130, scores: 110, title: 20, lane: 12, truth: 16, name: 16 };

function panelsOf(view) {
  const { series } = view;
  const panels = [];
  if (series.values) panels.push({ values: true, detectors: [], label: "series", height: HEIGHTS.values });
  const scored = view.shownDetectors().filter((index) => series.detectors[index].scores);
  const add = (detectors) =>
    panels.push({ detectors, label: "scores, each on its own scale", height: HEIGHTS.scores });
  if (view.layout === "overlay" && scored.length > 1) add(scored);
  else scored.forEach((index) => add([index]));
  return panels;
}

// Places of panels and lanes from the top down, and the map from offsets to pixels.
export function frameOf(view, width, [from, to]) {
  const frame = { left: MARGIN.left, right: width - MARGIN.right, from, to, top: 0, panels: panelsOf(view) };
  let y = 0;
  for (const panel of frame.panels) {
    y += HEIGHTS.title;
    panel.top = y;
    y += panel.height;
  }
  frame.lanesTop = y;
  frame.lanes = [undefined, ...view.shownDetectors()].map((detector) => {
    const height = detector === undefined ? HEIGHTS.truth : HEIGHTS.lane;
    const lane = { detector, label: y + HEIGHTS.name - 3, top: y + HEIGHTS.name + 2, height };
    y = lane.top + height;
    return lane;
  });
  frame.bottom = y + 8;
  frame.height = frame.bottom + MARGIN.bottom;
  frame.x = (offset) => frame.left + ((offset - from) / (to - from)) * (frame.right - frame.left);
  frame.offset = (x) => from + ((x - frame.left) / (frame.right - frame.left)) * (to - from);
  return frame;
}

// Where ignored time begins between one sample and another; null if there is none.
function firstIgnored({ ignored, borders }, before, after) {
  if (!ignored) return null;
  const at = lowerBound(ignored.seams, borders[before]);
  const first = ignored.seams[at] === borders[before] ? at + 1 : at;
  return ignored.seams[first] <= borders[after] ? ignored.starts[first] : null;
}

function line(view, frame, values, stroke, yaxis) {
  const { borders } = view.series.drawn;
  const [first, after] = visibleSamples(borders, frame.from, frame.to);
  const chosen = outline(values, first, after, Math.max(50, Math.round(frame.right - frame.left)));
  const [x, y] = [[], []];
  chosen.forEach((i, k) => {
    const gap = k ? firstIgnored(view.series, chosen[k - 1], i) : null;
    if (gap !== null) {
      x.push(gap, gap);
      y.push(values[chosen[k - 1]], null);
    }
    x.push(borders[i]);
    y.push(values[i]);
  });
  // Every sample is drawn as the step it is, however long; the last one lasts until its border.
  const { ignored, borders: closed } = view.series;
  x.push(ignored ? ignored.stop(closed[after]) : borders[after]);
  y.push(values[after - 1]);
  return {
    type: "scatter", mode: "lines", x, y, yaxis, hoverinfo: "skip",
    line: { ...stroke, width: 1.2, shape: "hv", simplify: false },
  };
}

function axisStyle() {
  return {
    fixedrange: true, zeroline: false, gridcolor: colour("grid"), linecolor: colour("line"),
    tickfont: { color: colour("muted"), size: 11 }, automargin: false,
  };
}

// Infinite scores are drawn at the edge of the panel.
const within = (values, [low, high]) => values.map((v) => (v === null ? null : Math.min(Math.max(v, low), high)));

function emptyLayout(view, frame, width) {
  const ticks = ticksOf(view.series.clock, frame.from, frame.to, frame.right - frame.left);
  return {
    width, height: frame.height, margin: { l: MARGIN.left, r: MARGIN.right, t: 0, b: MARGIN.bottom, pad: 0 },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: false,
    dragmode: view.dragMode, font: { family: colour("font"), color: colour("muted") }, separators: ".,",
    xaxis: {
      ...axisStyle(), fixedrange: false, type: "linear", anchor: "free", position: 0,
      range: [frame.from, frame.to], showline: true, ticks: "outside",
      ticklen: 4, tickcolor: colour("line"), tickmode: "array", tickvals: ticks.values, ticktext: ticks.texts, tickangle: 0,
    },
  };
}

// Add a vertical axis at a place between top and bottom; give the name that traces call it by.
function addAxis(layout, frame, { top, height }, extra) {
  const number = Object.keys(layout).filter((key) => key.startsWith("yaxis")).length + 1;
  const domain = [top + height, top].map((y) => Math.min(1, Math.max(0, 1 - y / frame.bottom)));
  layout[number === 1 ? "yaxis" : `yaxis${number}`] = { ...axisStyle(), anchor: "x", nticks: 4, domain, ...extra };
  return number === 1 ? "y" : `y${number}`;
}

function scoreTraces(view, frame, panel, layout) {
  let base = null;
  // The active detector comes first, since its scale is the one that is written.
  const order = [...panel.detectors].sort((p, q) => (q === view.active) - (p === view.active));
  return order.map((index) => {
    const { scores, range } = view.series.detectors[index];
    const shared = base ? { overlaying: base, showticklabels: false, showgrid: false } : {};
    const y = addAxis(layout, frame, panel, { range, ...shared });
    base = base || y;
    const trace = line(view, frame, scores, { color: detectorColour(index), dash: order.length > 1 ? detectorDash(index) : "solid" }, y);
    return { ...trace, y: within(trace.y, range) };
  });
}

// The series fills its panel; scores keep their scale, so that the threshold stays in place.
function valueTrace(view, frame, panel, layout) {
  const { values, drawn: { borders } } = view.series;
  const range = finiteRange(values.subarray(...visibleSamples(borders, frame.from, frame.to)));
  return line(view, frame, values, { color: colour("series") }, addAxis(layout, frame, panel, { range }));
}

export function figureOf(view, frame, width) {
  const layout = emptyLayout(view, frame, width);
  const data = frame.panels.flatMap((panel) =>
    panel.values ? [valueTrace(view, frame, panel, layout)] : scoreTraces(view, frame, panel, layout));
  // Nothing is drawn on the lanes here, but dragging across them zooms too.
  const lanes = { top: frame.lanesTop, height: frame.bottom - frame.lanesTop };
  const yaxis = addAxis(layout, frame, lanes, { range: [0, 1], visible: false });
  data.push({ type: "scatter", mode: "lines", x: [frame.from], y: [null], yaxis, hoverinfo: "skip" });
  return { data, layout };
}
