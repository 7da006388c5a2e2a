// The page: reads its data, opens a series or the batch, and says when it is ready.

import { chosenBy, commandOf, fragmentOf, readFragment } from "./address.js";
import { BatchView, batchSummary } from "./batch.js";
import { movedLevels } from "./chance.js";
import { make, setName } from "./dom.js";
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
const arrivals = new Map(); // of series that are in files of their own
let current = null;
let waiting = null;
let followed = location.hash; // the last fragment that this page read or wrote
let batch = null;
let plotly = null;

// Plotly takes longest to start, so numbers, tables and events are on the page before it.
async function runPlotly() {
  const packed = document.getElementById("plotly");
  if (!packed) return;
  const inflated = inflate(packed.textContent);
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
  const [start, stop] = series.drawn.span.map((end) => make("span", { class: "moment" }, clock.moment(end)));
  return [`${samples}${counted(summary.events, "true event")}, ${detectors} · `, start, " to ", stop, zone];
}

// A script is the only file that a page from the disk may read; it calls `closecall.receive`.
function arrival(index) {
  return new Promise((resolve, reject) => {
    const file = `${about.folder}/${index}.js`;
    const failed = () => reject(new Error(`This series is in the file ${file}, which is not beside this page.`));
    arrivals.set(index, resolve);
    document.head.append(make("script", { src: file.split("/").map(encodeURIComponent).join("/"), error: failed }));
  });
}

async function viewOf(index) {
  if (!views.has(index)) {
    const block = document.getElementById(`series-${index}`);
    const raw = JSON.parse(block ? block.textContent : await arrival(index));
    views.set(index, new View(await openSeries(raw), () => tellAddress(index)));
  }
  return views.get(index);
}

function put(element, title, text, signature, advice = []) {
  setName(document.getElementById("title"), title);
  document.title = title === about.title ? title : `${title} · ${about.title}`;
  document.getElementById("evaluated").replaceChildren(...text);
  document.getElementById("signature").textContent = signature;
  document.getElementById("advice").replaceChildren(...advice.map((one) => make("p", { class: "advice" }, one)));
  document.getElementById("content").replaceChildren(element);
}

function tellFragment(fragment) {
  if (location.protocol === "about:") return; // a frame of a notebook
  history.replaceState(null, "", `${location.href.split("#")[0]}${fragment && `#${fragment}`}`);
  followed = location.hash;
}

// What the reader chose is in the address, as soon as it rests.
function tellAddress(index) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (views.get(index) !== current || location.hash !== followed) return; // on the way elsewhere
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
    batch ||= new BatchView(about);
    put(batch.element, about.title, [batchSummary(about.series)], about.signature);
    scrollTo(0, batch.top);
    return;
  }
  let view;
  try {
    view = await viewOf(index);
  } catch (error) {
    if (!about.folder) throw error;
    current = null;
    put(make("p", { class: "panel" }, error.message), about.series[index].name, [], "");
    return;
  }
  current = view;
  const one = about.series[index];
  const { series } = view;
  const title = isBatch ? one.name : about.title;
  put(view.element, title, evaluated(series, one), series.signature, series.advice);
  if (named && (opens || !isBatch)) view.choose(chosenBy(named, series));
  else view.render();
  times.visible ??= performance.now();
  if (plotly) return;
  plotly = runPlotly();
  await plotly;
  if (current) current.render();
}

function onResize() {
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width && current && !isPrinting()) current.render();
    width = innerWidth;
  });
}

async function start() {
  onThemeChange(() => current && current.render());
  onPaper(() => current && current.render());
  onResize();
  addEventListener("hashchange", async () => {
    followed = location.hash;
    const named = readFragment(location.hash);
    if (location.hash && !named) return;
    if (batch && !current) batch.top = scrollY;
    await route(named);
    if (current) scrollTo(0, 0);
  });
  await route();
  times.visible ??= performance.now();
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
  receive: (index, text) => arrivals.get(index)(text),
  ready: start(),
};
