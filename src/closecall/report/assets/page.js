// The page: reads its data, opens a series or the batch, and says when it is ready.

import { chosenBy, commandOf, fragmentOf, readFragment } from "./address.js";
import { batchSummary, batchView } from "./batch.js";
import { movedLevels } from "./chance.js";
import { make } from "./dom.js";
import { inflate, openSeries } from "./series.js";
import { atOnce } from "./slices.js";
import { isPrinting, onPaper, onThemeChange } from "./theme.js";
import { bestWithin } from "./thresholds.js";
import { counted, headline, headlineOf, inWords, outcome, outcomeText, rateText, scoreText } from "./words.js";
import { View } from "./view.js";

const about = JSON.parse(document.getElementById("report").textContent);
const isBatch = about.batch;
const views = new Map();
const times = {}; // milliseconds since the page was asked for
const REST = 250; // milliseconds without another choice
let current = null;
let waiting = null;

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
  const lost = series.leftOut ? `, and with it ${counted(series.leftOut, "true event")}` : "";
  const ignored = series.ignored ? `. Of that, ${clock.length(total)} is ignored${lost}.` : "";
  const [start, stop] = span.map((end) => make("span", { class: "moment" }, clock.moment(end)));
  return [`${samples}${counted(summary.events, "true event")}, ${detectors} · `, start, " to ", stop, `${zone}${ignored}`];
}

async function viewOf(index) {
  if (!views.has(index)) {
    const raw = JSON.parse(document.getElementById(`series-${index}`).textContent);
    views.set(index, new View(await openSeries(raw), () => tellAddress(index)));
  }
  return views.get(index);
}

function put(element, title, text, signature, advice = []) {
  document.getElementById("title").textContent = title;
  document.title = title === about.title ? title : `${title} · ${about.title}`;
  document.getElementById("evaluated").replaceChildren(...text);
  document.getElementById("signature").textContent = signature;
  document.getElementById("advice").replaceChildren(...advice.map((one) => make("p", { class: "advice" }, one)));
  document.getElementById("content").replaceChildren(element);
}

function tellFragment(fragment) {
  if (location.protocol === "about:") return; // a frame of a notebook
  history.replaceState(null, "", `${location.href.split("#")[0]}${fragment && `#${fragment}`}`);
}

// What the reader chose is in the address, as soon as it rests.
function tellAddress(index) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (views.get(index) !== current) return;
    const chosen = fragmentOf(current, current.opening);
    const parts = [...(isBatch ? [`series=${index}`] : []), ...(chosen ? [chosen] : [])];
    tellFragment(parts.join("&"));
  }, REST);
}

// Open what the address names; anything that it does not know in it is ignored.
async function route(named = readFragment(location.hash)) {
  const number = named?.series[0] ?? "";
  const opens = /^\d+$/.test(number) && number in about.series && !about.series[number].status && !about.series[number].closed;
  const index = opens ? Number(number) : 0;
  const all = isBatch && !opens;
  document.getElementById("back").hidden = !isBatch || all;
  if (all) {
    current = null;
    put(batchView(about.series), about.title, [batchSummary(about.series)], about.signature);
    return;
  }
  const view = await viewOf(index);
  current = view;
  const one = about.series[index];
  const { series } = view;
  const title = isBatch ? one.name : about.title;
  put(view.element, title, evaluated(series, one), series.signature, series.advice);
  if (named && (opens || !isBatch)) view.choose(chosenBy(named, series));
  else view.render();
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
    const named = readFragment(location.hash);
    if (location.hash && !named) return;
    await route(named);
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
  get command() {
    return current && commandOf(current);
  },
  inWords, scoreText, outcomeText, headline, rateText, outcome, headlineOf, times,
  levelsOf: (...of) => atOnce(movedLevels(...of)),
  bestWithin: (...of) => atOnce(bestWithin(...of)),
  // The page as it was made, whatever was chosen since.
  reopen() {
    views.clear();
    const { series = [] } = readFragment(location.hash) || {};
    tellFragment(series.map((one) => `series=${one}`).join(""));
    return route();
  },
  ready: start(),
};
