// Many series: who leads over all of them, and a cell per series and detector that opens the series.

import { make, sideways } from "./dom.js";
import { counted, scoreText } from "./words.js";

const SCORES = [["f1", "F1"], ["precision", "precision"], ["recall", "recall"]];

const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : NaN);

// Detectors by name, with their rows over the series that have them.
function standings(series) {
  const detectors = new Map();
  for (const one of series) {
    for (const row of one.detectors || []) {
      if (!detectors.has(row.name)) detectors.set(row.name, []);
      detectors.get(row.name).push({ ...row, events: one.events });
    }
  }
  const rows = [...detectors].map(([name, found]) => {
    const means = {};
    const chance = {};
    for (const [key] of SCORES) {
      means[key] = mean(found.map((row) => row[key]).filter((value) => value !== null));
      chance[key] = mean(found.map((row) => row.chance[key]).filter((value) => value !== null));
    }
    const total = (key) => found.reduce((sum, row) => sum + row[key], 0);
    const counts = { caught: total("caught"), events: total("events"), falseAlarms: total("false_alarms") };
    return { name, count: found.length, chance, ...counts, ...means };
  });
  return rows.sort((p, q) => (Number.isNaN(q.f1) ? -1 : q.f1) - (Number.isNaN(p.f1) ? -1 : p.f1));
}

function scoreCell(row, key) {
  const chance = make("small", { class: "chance" }, Number.isNaN(row.chance[key]) ? "–" : `chance ${scoreText(row.chance[key])}`);
  return make("td", { class: "score", style: `--share: ${row[key] || 0}` }, chance, " ", scoreText(row[key], 3));
}

// The column of names stays in place when the rest is scrolled.
function tableOf(head, names, rows, label) {
  const cells = head.map((text, k) => make("th", { scope: "col", class: k === names ? "stick" : null }, make("span", { title: text }, text)));
  return sideways(make("table", {}, make("thead", {}, make("tr", {}, ...cells)), make("tbody", {}, ...rows)), label);
}

const OPENED = "Means over the series that are scored, each detector at the threshold its page opens with: unless another was given, the best one on the same labels, so these scores flatter.";
const EVALUATED = "Means over the series that are scored, each detector at the thresholds of the batch; those that were chosen on the same labels flatter.";

function leaderboard(ranking, closed) {
  const head = ["", "detector", "caught", "false alarms", ...SCORES.map(([, title]) => title), "series"];
  const rows = ranking.map((row, place) =>
    make(
      "tr",
      {},
      make("td", { class: "rank" }, String(place + 1)),
      make("th", { scope: "row", class: "stick" }, row.name),
      make("td", { class: "time" }, `${row.caught} of ${row.events}`),
      make("td", { class: "time" }, row.falseAlarms.toLocaleString("en")),
      ...SCORES.map(([key]) => scoreCell(row, key)),
      make("td", { class: "time" }, String(row.count)),
    ));
  return make(
    "section",
    { class: "panel leaderboard", "aria-label": "leaderboard" },
    make("h2", {}, "Leaderboard"),
    make("p", { class: "hint" }, `${closed ? EVALUATED : OPENED} Beside them, what the same alarms reach on average when they are moved around their series. Events and false alarms are those of the same series.`),
    tableOf(head, 1, rows, "leaderboard"),
  );
}

function cell(row, series, index) {
  if (!row) return make("td", { class: "heat none" }, "–");
  const text = row.f1 === null ? "–" : scoreText(row.f1);
  const label = `${row.name} on ${series.name}: ${row.headline}; F1 ${text}, precision ${scoreText(row.precision ?? NaN)}, recall ${scoreText(row.recall ?? NaN)}`;
  const shown = series.closed
    ? make("span", { "aria-label": label, title: label }, text)
    : make("a", { href: `#series=${index}&detector=${encodeURIComponent(row.name)}`, "aria-label": label, title: label }, text);
  return make("td", { class: "heat", style: `--share: ${Math.round((row.f1 ?? 0) ** 3 * 100)}%` }, shown);
}

function heatMap(series, ranking, closed) {
  const places = series.map((one, index) => [one, index]);
  places.sort(([p], [q]) => Boolean(p.status) - Boolean(q.status)); // what is not scored comes last
  const rows = places.map(([one, index]) => {
    const name = one.status || one.closed
      ? make("th", { scope: "row", class: "stick" }, make("span", {}, one.name))
      : make("th", { scope: "row", class: "stick" }, make("a", { href: `#series=${index}` }, one.name));
    if (one.status) return make("tr", { class: "status" }, name, make("td", { colspan: String(ranking.length + 1) }, make("div", {}, one.status)));
    const cells = ranking.map(({ name: wanted }) => cell(one.detectors.find((row) => row.name === wanted), one, index));
    return make("tr", {}, name, make("td", { class: "time" }, String(one.events)), ...cells);
  });
  const head = ["series", "events", ...ranking.map((row) => row.name)];
  return make(
    "section",
    { class: "panel heat-map", "aria-label": "series by detector", style: `--detectors: ${ranking.length}` },
    make("h2", {}, "F1 of every series"),
    make("p", { class: "hint" }, closed ? "From the rows of a batch." : "Open a cell to see the series with that detector."),
    tableOf(head, 0, rows, "F1 of every series"),
  );
}

export function batchView(series) {
  const ranking = standings(series);
  const closed = series.some((one) => one.closed);
  return make("div", { class: "view batch" }, leaderboard(ranking, closed), heatMap(series, ranking, closed));
}

export function batchSummary(series) {
  const scored = series.filter((one) => !one.status);
  const events = scored.reduce((sum, one) => sum + one.events, 0);
  const left = series.length - scored.length;
  return `${series.length} series, ${counted(events, "true event")}${left ? `, ${left} not scored` : ""}`;
}
