// Many series: who leads over all of them, how detectors rank, and a table that opens each series.

import { make, nameParts, setText, sideways, toggleAttribute } from "./dom.js";
import { counted, levelText, percentText, scoreText } from "./words.js";

const MOST_ROWS = 100; // until the reader asks for more
const ALL = "all";
const UNSCORED = "not scored";
const CAUGHT = "all caught";
const PARTLY = "missed by some";
const MISSED = "missed by all";
const MEANINGS = new Map([
  [ALL, null],
  [CAUGHT, "every detector caught every event"],
  [PARTLY, "some detectors missed an event or came no closer than a close call, others caught all"],
  [MISSED, "every detector missed an event, or came no closer than a close call"],
  [UNSCORED, null],
]);
const SCORES = [["f1", "F1"], ["precision", "precision"], ["recall", "recall"]];

const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : NaN);

function grouped(values, keyOf) {
  const groups = new Map();
  for (const value of values) {
    const key = keyOf(value);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(value);
  }
  return groups;
}

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
      const scores = found.map((row) => (key === "f1" ? row.counted : [row[key], row.chance[key]]));
      [means[key], chance[key]] = [0, 1].map((k) => mean(scores.map((pair) => pair[k]).filter((value) => value !== null)));
    }
    const total = (key) => found.reduce((sum, row) => sum + row[key], 0);
    const counts = { caught: total("caught"), events: total("events"), falseAlarms: total("false_alarms") };
    chance.caught = found.reduce((sum, row) => sum + row.chance.caught, 0);
    return { name, count: found.length, chance, alarmed: mean(found.map((row) => row.alarmed)), ...counts, ...means };
  });
  return rows.sort((p, q) => (Number.isNaN(q.f1) ? -1 : q.f1) - (Number.isNaN(p.f1) ? -1 : p.f1));
}

function scoreCell(row, key) {
  const chance = make("small", { class: "chance" }, Number.isNaN(row.chance[key]) ? "–" : `chance ${scoreText(row.chance[key])}`);
  return make("td", { class: key === "f1" ? "score" : "score wide", style: `--share: ${row[key] || 0}` }, chance, " ", scoreText(row[key], 3));
}

// A table that is sorted by any column; what has no value comes last.
class SortedTable {
  constructor(label, columns, key, rows) {
    Object.assign(this, { columns, rows, key, direction: this.natural(columns, key), most: MOST_ROWS });
    this.head = make("tr");
    this.body = make("tbody");
    this.more = make("button", { type: "button", class: "more", hidden: true, click: () => this.showMore() });
    this.element = make("div", {}, sideways(make("table", {}, make("thead", {}, this.head), this.body), label), this.more);
    this.elements = new Map();
    this.render();
  }

  // Names go up, and so do ranks; for other numbers the largest is first.
  natural(columns, key) {
    return columns.find((column) => column.key === key).upward ? 1 : -1;
  }

  render() {
    const { columns, key, direction } = this;
    this.head.replaceChildren(...columns.map((column) => {
      const sorted = column.key === key;
      const arrow = sorted ? (direction > 0 ? " ▴" : " ▾") : "";
      const told = column.value
        ? make("button", { type: "button", title: column.told || column.title, click: () => this.sortBy(column.key) }, make("span", {}, ...nameParts(column.title), arrow))
        : make("span", {}, column.title);
      return make("th", { scope: "col", class: column.kind, "aria-sort": sorted ? (direction > 0 ? "ascending" : "descending") : null }, told);
    }));
    this.show(this.rows);
  }

  show(rows) {
    this.rows = rows;
    const { value } = this.columns.find(({ key }) => key === this.key);
    const absent = (one) => one === null || one === undefined || Number.isNaN(one);
    const sorted = rows.map((row, place) => [value(row), place, row]).sort(([p, i], [q, j]) => {
      if (absent(p) || absent(q)) return absent(p) - absent(q) || i - j;
      const order = typeof p === "string" ? p.localeCompare(q, "en", { numeric: true }) : p - q;
      return order * this.direction || i - j;
    });
    this.body.replaceChildren(...sorted.slice(0, this.most).map(([, , row]) => this.row(row)));
    this.more.hidden = sorted.length <= this.most;
    setText(this.more, `show ${Math.min(5 * MOST_ROWS, sorted.length - this.most)} of ${counted(sorted.length - this.most, "more row")}`);
  }

  row(row) {
    if (!this.elements.has(row)) this.elements.set(row, make("tr", {}, ...this.columns.map((column) => column.cell(row))));
    return this.elements.get(row);
  }

  sortBy(key) {
    this.direction = this.key === key ? -this.direction : this.natural(this.columns, key);
    this.key = key;
    this.render();
    this.head.children[this.columns.findIndex((column) => column.key === key)].firstChild.focus();
  }

  showMore() {
    this.most += 5 * MOST_ROWS;
    this.show(this.rows);
  }
}

const SILENT = "A detector without any alarm on a series with true events has an F1 of 0 there.";

const plainCell = (kind, text) => make("td", { class: kind }, text);

function leaderboard(ranking, ranks, thresholds) {
  const placed = new Map((ranks?.detectors || []).map((one) => [one.detector, one.average_rank]));
  const rows = ranking.map((row, place) => ({ ...row, place: place + 1, rank: placed.get(row.name) }));
  const columns = [
    { key: "place", title: "", kind: "rank", cell: (row) => plainCell("rank", String(row.place)) },
    { key: "name", title: "detector", kind: "stick", upward: true, value: (row) => row.name, cell: (row) => make("th", { scope: "row", class: "stick" }, make("span", {}, ...nameParts(row.name))) },
    { key: "caught", title: "caught", kind: "count", value: (row) => row.caught / row.events, cell: (row) => plainCell("count", `${row.caught} of ${row.events}`) },
    { key: "level", title: "by chance", kind: "count wide", upward: true, value: (row) => row.chance.caught, cell: (row) => plainCell("count wide", levelText(row.chance.caught)) },
    { key: "alarmed", title: "in alarm", kind: "count wide", upward: true, value: (row) => row.alarmed, cell: (row) => plainCell("count wide", percentText(row.alarmed)) },
    { key: "wrong", title: "false alarms", kind: "count wide", upward: true, value: (row) => row.falseAlarms, cell: (row) => plainCell("count wide", row.falseAlarms.toLocaleString("en")) },
    ...SCORES.map(([key, title]) => ({ key, title, kind: key === "f1" ? "score" : "score wide", value: (row) => row[key], cell: (row) => scoreCell(row, key) })),
    ...(ranks ? [{ key: "rank", title: "rank", told: `average rank over ${ranks.series} series`, kind: "count", upward: true, value: (row) => row.rank, cell: (row) => plainCell("count", row.rank.toFixed(2)) }] : []),
    ...(ranking.some((row) => row.count !== ranking[0].count) ? [{ key: "count", title: "series", kind: "count wide", value: (row) => row.count, cell: (row) => plainCell("count wide", String(row.count)) }] : []),
  ];
  const table = new SortedTable("leaderboard", columns, "f1", rows);
  return make(
    "section",
    { class: "panel leaderboard", "aria-label": "leaderboard" },
    make("h2", {}, "Leaderboard"),
    make("p", { class: "hint" }, `Means over the scored series, each detector ${thresholds}. Chance is the mean over shifts of the alarms, or of the events, around their series, whichever is higher. ${SILENT}`),
    table.element,
  );
}

const [LEAST_AXIS, BESIDE] = [64, 14]; // pixels, of the axis of ranks and around a name

// The critical-difference diagram: detectors at their average ranks, and a bar over those that the
// tests do not tell apart.
class RankStrip {
  constructor(ranks) {
    this.ranks = ranks;
    this.stage = make("div", { class: "ranks-stage" });
    this.element = make(
      "section",
      { class: "panel ranks", "aria-label": "ranks" },
      make("h2", {}, `Average ranks over ${ranks.series} series`),
      this.stage,
      make("p", { class: "hint" }, `A bar joins detectors that are not told apart. ${ranks.text}`),
    );
    let width = 0;
    new ResizeObserver(() => {
      if (this.stage.clientWidth && this.stage.clientWidth !== width) this.draw((width = this.stage.clientWidth));
    }).observe(this.stage);
  }

  draw(width) {
    const svg = (tag, attributes, ...children) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      element.append(...children);
      return element;
    };
    const { detectors, cliques } = this.ranks;
    const count = detectors.length;
    const context = document.createElement("canvas").getContext("2d");
    context.font = `12px ${getComputedStyle(this.stage).fontFamily}`;
    const told = (name, rank, first) => (first ? `${name} ${rank.toFixed(2)}` : `${rank.toFixed(2)} ${name}`);
    const widthOf = (text) => context.measureText(text).width + BESIDE;
    const widest = (rows) => Math.max(...rows.map(({ detector, average_rank: rank }) => widthOf(told(detector, rank, true))));
    // Names are on both sides if whole ones leave room for the axis, else all of them on the left.
    const half = Math.ceil(count / 2);
    const needed = [widest(detectors.slice(0, half)), widest(detectors.slice(half))];
    const both = needed[0] + needed[1] <= width - LEAST_AXIS;
    const left = both ? half : count;
    const margins = both ? needed : [Math.min(Math.max(...needed), width - LEAST_AXIS - BESIDE), BESIDE];
    const axisWidth = width - margins[0] - margins[1];
    const x = (rank) => margins[0] + ((rank - 1) / (count - 1)) * axisWidth;
    const line = (points, kind) => svg("polyline", { points: points.map((point) => point.join()).join(" "), class: kind });
    const axis = 22;
    const parts = [line([[x(1), axis], [x(count), axis]], "axis")];
    const step = Math.ceil(count / Math.max(2, axisWidth / 30));
    for (let rank = 1; rank <= count; rank += step) {
      parts.push(line([[x(rank), axis - 5], [x(rank), axis]], "axis"), svg("text", { x: x(rank), y: axis - 9, "text-anchor": "middle" }, String(rank)));
    }
    const at = new Map(detectors.map((one) => [one.detector, x(one.average_rank)]));
    cliques.forEach((clique, level) => {
      const y = axis + 9 + 7 * level;
      parts.push(line([[at.get(clique[0]) - 4, y], [at.get(clique.at(-1)) + 4, y]], "clique"));
    });
    const below = axis + 16 + 7 * cliques.length;
    detectors.forEach(({ detector, average_rank: rank }, k) => {
      const first = k < left;
      const y = below + 18 * (first ? k : count - 1 - k) + 6;
      const margin = margins[first ? 0 : 1];
      const side = first ? margin - 6 : width - margin + 6;
      let shown = told(detector, rank, first);
      for (let letters = detector.length - 1; letters > 0 && widthOf(shown) > margin + 0.5; letters--) {
        shown = told(`${detector.slice(0, letters)}…`, rank, first);
      }
      parts.push(
        line([[x(rank), axis], [x(rank), y], [side, y]], "line"),
        svg("text", { x: first ? side - 4 : side + 4, y: y + 4, "text-anchor": first ? "end" : "start" }, svg("title", {}, detector), shown),
      );
    });
    const label = detectors.map((one) => `${one.detector} ${one.average_rank.toFixed(2)}`).join(", ");
    this.stage.replaceChildren(svg("svg", { width, height: below + 18 * left + 4, role: "img", "aria-label": `average ranks: ${label}` }, ...parts));
  }
}

const shareOf = (f1) => `--share: ${Math.round((f1 ?? 0) ** 3 * 100)}%`;

function heatCell(one, name) {
  const row = one.rows.get(name);
  if (!row) return make("td", { class: "heat none wide", title: one.left_out?.[name] }, "–");
  const text = row.f1 === null ? "–" : scoreText(row.f1);
  const label = `${row.name} on ${one.name}: ${row.headline}; F1 ${text}, precision ${scoreText(row.precision ?? NaN)}, recall ${scoreText(row.recall ?? NaN)}`;
  const shown = one.closed
    ? make("span", { "aria-label": label, title: label, role: "img" }, text)
    : make("a", { href: `#series=${one.index}&detector=${encodeURIComponent(row.name)}`, "aria-label": label, title: label }, text);
  return make("td", { class: "heat wide", style: shareOf(row.f1) }, shown);
}

// What a series looks like where there is no room for a column for each detector.
function strip(one, ranking) {
  const cells = ranking.map(({ name }) => make("i", one.rows.has(name) ? { style: shareOf(one.rows.get(name).f1) } : { class: "none" }));
  return make("td", { class: "strip narrow" }, make("span", { role: "img", "aria-label": `F1 of ${counted(ranking.length, "detector")}` }, ...cells));
}

function statusOf(one) {
  if (one.status) return UNSCORED;
  const whole = one.detectors.filter((row) => row.caught === one.events).length;
  return whole === one.detectors.length ? CAUGHT : whole ? PARTLY : MISSED;
}

class SeriesTable {
  constructor(series, ranking, closed) {
    this.series = series.map((one, index) => {
      const rows = new Map((one.detectors || []).map((row) => [row.name, row]));
      const best = (one.detectors || []).reduce((p, q) => ((q.f1 ?? -1) > (p?.f1 ?? -1) ? q : p), null);
      return { ...one, index, rows, best, kind: statusOf(one) };
    });
    this.filter = ALL;
    this.search = make("input", { type: "search", placeholder: "name of a series", "aria-label": "show series whose name has", input: () => this.refresh() });
    this.filters = make("div", { class: "choice filters", role: "group", "aria-label": "show series that are" });
    for (const [name, meaning] of MEANINGS) {
      const count = this.series.filter((one) => name === ALL || one.kind === name).length;
      if (count) this.filters.append(make("button", { type: "button", "data-status": name, title: meaning, click: () => this.filterBy(name) }, `${name} `, make("b", {}, String(count))));
    }
    const columns = [
      { key: "name", title: "series", kind: "stick", upward: true, value: (one) => one.name, cell: (one) => make("th", { scope: "row", class: "stick" }, one.closed ? make("span", {}, ...nameParts(one.name)) : make("a", { href: `#series=${one.index}` }, ...nameParts(one.name))) },
      { key: "events", title: "events", kind: "count wide", value: (one) => one.events, cell: (one) => plainCell("count wide", String(one.events)) },
      { key: "best", title: "best F1", kind: "score best-of", value: (one) => one.best?.f1, cell: (one) => make("td", { class: "score best-of", style: `--share: ${one.best?.f1 || 0}` }, scoreText(one.best?.f1 ?? NaN, 2), make("small", { class: "narrow" }, ...nameParts(one.best?.name ?? ""))) },
      { key: "strip", title: "all", kind: "strip narrow", cell: (one) => strip(one, ranking) },
      ...ranking.map(({ name }) => ({ key: `F1 ${name}`, title: name, kind: "detector wide", value: (one) => one.rows.get(name)?.f1, cell: (one) => heatCell(one, name) })),
    ];
    this.table = new SortedTable("series", columns, "name", []);
    this.empty = make("p", { class: "hint", hidden: true }, "No scored series is like that.");
    this.unscored = make("details", { class: "unscored" });
    this.element = make(
      "section",
      { class: "panel heat-map", "aria-label": "series by detector", style: `--detectors: ${ranking.length}` },
      make("div", { class: "toolbar" }, make("h2", {}, "F1 of every series"), this.search, this.filters),
      make("p", { class: "hint" }, closed ? "These are the rows of a batch, which do not have the series themselves, so none can be opened." : "Open a series, or a cell to see it with that detector."),
      this.table.element,
      this.empty,
      this.unscored,
    );
    this.refresh();
  }

  refresh() {
    const wanted = this.search.value.trim().toLowerCase();
    const named = this.series.filter((one) => one.name.toLowerCase().includes(wanted));
    const scored = named.filter((one) => !one.status && (this.filter === ALL || one.kind === this.filter));
    this.table.show(scored);
    this.table.element.hidden = this.filter === UNSCORED;
    this.empty.hidden = scored.length > 0 || this.filter === UNSCORED;
    for (const button of this.filters.children) toggleAttribute(button, "aria-pressed", true, String(button.dataset.status === this.filter));
    const lost = named.filter((one) => one.status);
    this.unscored.hidden = !lost.length || ![ALL, UNSCORED].includes(this.filter);
    this.listUnscored(lost);
  }

  // Reasons and hints that several series share are told once.
  listUnscored(series) {
    const kinds = grouped(series, (one) => one.words);
    const counts = [...kinds].map(([words, found]) => `${found.length} ${words}`).join("; ");
    const groups = [...kinds].map(([words, found]) => {
      const told = (one) => one.status.replace(/^\w+: /, "").split(" Hint: ");
      const reasons = grouped(found, (one) => told(one)[0]);
      const hints = new Set(found.map((one) => told(one)[1]).filter(Boolean));
      const lines = [...reasons].map(([reason, alike]) => make("li", {}, make("b", {}, ...nameParts(alike.map(({ name }) => name).join(", "))), make("span", {}, reason)));
      return [make("h3", {}, `${found.length} ${words}`), ...[...hints].map((hint) => make("p", { class: "hint" }, hint)), make("ul", {}, ...lines)];
    });
    this.unscored.replaceChildren(make("summary", {}, `${series.length} series ${series.length === 1 ? "is" : "are"} not scored: ${counts}`), ...groups.flat());
  }

  filterBy(name) {
    this.filter = name;
    if (name === UNSCORED) this.unscored.open = true;
    this.refresh();
  }
}

export class BatchView {
  constructor({ series, ranks, unranked, thresholds }) {
    const ranking = standings(series);
    const closed = series.some((one) => one.closed);
    const board = leaderboard(ranking, ranks, thresholds);
    if (!ranks && ranking.length > 1) board.append(make("p", { class: "hint unranked" }, `Without average ranks and tests: ${unranked}`));
    this.top = 0; // how far down the reader was
    this.element = make("div", { class: "view batch" }, board, ...(ranks ? [new RankStrip(ranks).element] : []), new SeriesTable(series, ranking, closed).element);
  }
}

export function batchSummary(series) {
  const scored = series.filter((one) => !one.status);
  const events = scored.reduce((sum, one) => sum + one.events, 0);
  const left = series.length - scored.length;
  return `${series.length} series, ${counted(events, "true event")}${left ? `, ${left} not scored` : ""}`;
}
