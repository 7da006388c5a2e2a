// The page: reads its data, opens a series or the batch, and says when it is ready.

import { batchSummary, batchView } from "./batch.js";
import { make } from "./dom.js";
import { movedLevels } from "./chance.js";
import { inflate } from "./decode.js";
import { bestWithin } from "./limits.js";
import { headlineOf, outcome } from "./outcome.js";
import { isPrinting, onPaper } from "./paper.js";
import { openSeries } from "./series.js";
import { atOnce } from "./slices.js";
import { onThemeChange } from "./theme.js";
import { counted, headline, inWords, outcomeText, rateText, scoreText } from "./words.js";
import { View } from "./view.js";

const about = JSON.parse(document.getElementById("report").textContent);
const isBatch = about.batch;
const views = new Map();
const times = {}; // milliseconds since the page was asked for
let current = null;

// Plotly takes longest to start, so numbers, tables and events are on the page before it.
async function runPlotly(inflated) {
  await new Promise((resolve) => setTimeout(resolve));
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(await inflated);
  document.head.append(script);
  script.remove();
}

function evaluated(series, summary) {
  const { clock } = series;
  const samples = summary.samples === null ? "" : `${counted(summary.samples, "sample")}, `;
  const zone = clock.zone ? ` (${clock.zone})` : "";
  const detectors = counted(series.detectors.length, "detector");
  const span = series.drawn.span;
  const total = span[1] - span[0] - (series.span[1] - series.span[0]);
  const lost = series.leftOut ? ` with ${counted(series.leftOut, "true event")}` : "";
  const ignored = series.ignored ? `; ${clock.length(total)}${lost} ignored` : "";
  return `${samples}${counted(summary.events, "true event")}, ${detectors} · ${clock.moment(span[0])} to ${clock.moment(span[1])}${zone}${ignored}`;
}

async function viewOf(index) {
  if (!views.has(index)) {
    const raw = JSON.parse(document.getElementById(`series-${index}`).textContent);
    views.set(index, new View(await openSeries(raw)));
  }
  return views.get(index);
}

function put(element, title, text, signature, advice = []) {
  document.getElementById("title").textContent = title;
  document.title = title === about.title ? title : `${title} · ${about.title}`;
  document.getElementById("evaluated").textContent = text;
  document.getElementById("signature").textContent = signature;
  document.getElementById("advice").replaceChildren(...advice.map((one) => make("p", { class: "advice" }, one)));
  document.getElementById("content").replaceChildren(element);
}

// Which series and which detector the address names, if it does; anything else in it is ignored.
const ADDRESS = /^#series=(\d+)(?:&detector=(\d+))?$/;

async function route() {
  const [, named, detector] = ADDRESS.exec(location.hash) || [];
  const opens = named in about.series && !about.series[named].status && !about.series[named].closed;
  const index = opens ? Number(named) : 0;
  const all = isBatch && !opens;
  document.getElementById("back").hidden = !isBatch || all;
  if (all) {
    current = null;
    put(batchView(about.series), about.title, batchSummary(about.series), about.signature);
    return;
  }
  const view = await viewOf(index);
  current = view;
  const one = about.series[index];
  const { series } = view;
  const title = isBatch ? one.name : about.title;
  put(view.element, title, evaluated(series, one), series.signature, series.advice);
  if (detector in view.series.detectors) {
    view.active = Number(detector);
    view.shown.add(view.active);
  }
  view.render();
}

function onResize() {
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width && current && !isPrinting()) current.render();
    width = innerWidth;
  });
}

async function start() {
  const packed = document.getElementById("plotly");
  const inflated = packed && inflate(packed.textContent);
  onThemeChange(() => current && current.render());
  onPaper(() => current && current.render());
  onResize();
  addEventListener("hashchange", async () => {
    if (location.hash && !ADDRESS.test(location.hash)) return;
    await route();
    scrollTo(0, 0);
  });
  await route();
  times.visible = performance.now();
  if (packed) await runPlotly(inflated);
  if (current) current.render();
  times.ready = performance.now();
  document.documentElement.dataset.ready = "true";
}

// For whoever wants to ask the page from a console.
window.closecall = {
  get view() {
    return current;
  },
  inWords, scoreText, outcomeText, headline, rateText, outcome, headlineOf, times,
  levelsOf: (...of) => atOnce(movedLevels(...of)),
  bestWithin: (...of) => atOnce(bestWithin(...of)),
  reopen() {
    views.clear();
    return route();
  },
  ready: start(),
};
