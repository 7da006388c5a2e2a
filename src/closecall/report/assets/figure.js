// Where everything on the timeline stands, in pixels, and the figure that plotly draws there.

import { ticksOf } from "./clock.js";
import { lowerBound } from "./predict.js";
import { finiteRange } from "./series.js";
import { colour, detectorColour, detectorDash } from "./theme.js";

const MARGIN = { left: 52, right: 14, bottom: 36 };
const WIDEST_NAME = 150; // of a lane, beside it
const NARROW = 640; // where names of lanes stand above them
// Pixels, in a window of 900; what is drawn grows with the window.
const HEIGHTS = { values: 78, scores: 62, title: 16, lane: 10, truth: 12, strip: 13, name: 14, gap: 5 };
const TALL = 1000;
const PALE = 0.4;

// The samples that a window of offsets shows, with one more on either side.
function visibleSamples(borders, from, to) {
  const count = borders.length - 1;
  const first = Math.max(0, lowerBound(borders, from) - 1);
  const after = Math.min(count, lowerBound(borders, to) + 1);
  return [Math.min(first, count - 1), Math.max(after, 1)];
}

// A line of at most a few points per pixel that still shows every peak: the lowest and highest
// value of each bucket, in their order.
function outline(values, first, after, buckets) {
  if (after - first <= 4 * buckets) {
    return Array.from({ length: after - first }, (_, k) => first + k);
  }
  const chosen = [];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const start = first + Math.floor(((after - first) * bucket) / buckets);
    const stop = first + Math.floor(((after - first) * (bucket + 1)) / buckets);
    let low = start;
    let high = start;
    for (let i = start + 1; i < stop; i++) {
      // Comparisons with nan are false, so a number takes the place of nan.
      if (values[i] < values[low] || Number.isNaN(values[low])) low = i;
      if (values[i] > values[high] || Number.isNaN(values[high])) high = i;
    }
    if (low === high) chosen.push(low);
    else chosen.push(Math.min(low, high), Math.max(low, high));
  }
  return chosen;
}

function panelsOf(view) {
  const { series } = view;
  const panels = [];
  const grown = innerHeight < TALL ? 1 : 1.4;
  if (series.values) panels.push({ values: true, detectors: [], label: "series", height: HEIGHTS.values * grown });
  const scored = view.shownDetectors().filter((index) => series.detectors[index].scores);
  const add = (detectors) =>
    panels.push({ detectors, label: "scores, each on its own scale", height: HEIGHTS.scores * grown });
  if (view.layout === "overlay" && scored.length > 1) add(scored);
  else scored.forEach((index) => add([index]));
  return panels;
}

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();

export function textWidth(text) {
  if (!widths.has(text)) {
    ruler.font = laneFont();
    widths.set(text, ruler.measureText(text).width);
  }
  return widths.get(text);
}

export const laneFont = () => `11px ${colour("font")}`;
export const TRUE_EVENTS = "true events";

// Room for the names of lanes on the left, where there is any.
function gutter({ detectors }, width) {
  if (width < NARROW) return MARGIN.left;
  const widest = Math.max(...[TRUE_EVENTS, ...detectors.map(({ name }) => name)].map(textWidth));
  return Math.max(MARGIN.left, Math.min(Math.ceil(widest), WIDEST_NAME) + 12);
}

// Places of panels and lanes from the top down, and the map from offsets to pixels. The lanes follow
// the series, so that alarms are seen under what they are about.
export function frameOf(view, width, [from, to]) {
  const beside = width >= NARROW;
  const frame = { left: gutter(view.series, width), right: width - MARGIN.right, from, to, top: 0, panels: panelsOf(view), beside };
  let y = 0;
  const place = (panel) => {
    panel.top = y + HEIGHTS.title;
    y = panel.top + panel.height;
  };
  frame.panels.filter(({ values }) => values).forEach(place);
  frame.lanesTop = y;
  frame.lanes = [undefined, ...view.shownDetectors()].map((detector) => {
    const isTruth = detector === undefined;
    const lane = { detector, above: y, height: isTruth ? HEIGHTS.truth : HEIGHTS.lane };
    if (!beside) y += HEIGHTS.name;
    lane.strip = y + 2; // of marks and numbers, over the true events
    lane.top = y + (isTruth ? HEIGHTS.strip + 2 : HEIGHTS.gap);
    y = lane.top + lane.height;
    return lane;
  });
  frame.lanesBottom = y + HEIGHTS.gap;
  y = frame.lanesBottom;
  frame.panels.filter(({ values }) => !values).forEach(place);
  frame.bottom = y + 2;
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
    width, height: frame.height, margin: { l: frame.left, r: MARGIN.right, t: 0, b: MARGIN.bottom, pad: 0 },
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
  layout[number === 1 ? "yaxis" : `yaxis${number}`] = { ...axisStyle(), anchor: "x", nticks: 3, domain, ...extra };
  return number === 1 ? "y" : `y${number}`;
}

// The active detector is drawn over the others, which are pale; its scale is the one that is written.
function scoreTraces(view, frame, panel, layout) {
  let base = null;
  const order = [...panel.detectors].sort((p, q) => (p === view.active) - (q === view.active));
  return order.map((index, k) => {
    const { scores, range } = view.series.detectors[index];
    const top = k === order.length - 1;
    const y = addAxis(layout, frame, panel, { range, showticklabels: top, showgrid: top, ...(base && { overlaying: base, tickmode: "auto" }) });
    base = base || y;
    const dash = order.length > 1 ? detectorDash(index) : "solid";
    const trace = line(view, frame, scores, { color: detectorColour(index), dash }, y);
    return { ...trace, y: within(trace.y, range), opacity: top ? 1 : PALE };
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
  const lanes = { top: frame.lanesTop, height: frame.lanesBottom - frame.lanesTop };
  const yaxis = addAxis(layout, frame, lanes, { range: [0, 1], visible: false });
  data.push({ type: "scatter", mode: "lines", x: [frame.from], y: [null], yaxis, hoverinfo: "skip" });
  return { data, layout };
}
