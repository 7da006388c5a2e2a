// One row per true event: sorted by any column, filtered by what became of the event.

import { make, nameParts, setText, sideways, toggleAttribute } from "./dom.js";
import { OUTCOMES } from "./score.js";
import { detectorVariable } from "./theme.js";
import { counted, outcome, scoreText } from "./words.js";

const MOST_ROWS = 200; // until the reader asks for more
const MOST_DETAILS = 3; // the pointer shows the others
const LONG = 16; // letters of a detail that needs lines of its own
const ALL = "all";
const IN_ORDER = { key: "event", direction: 1 };

// Whether a filter shows an event: a close call is missed, too, as it was not caught.
const isShown = ({ kind }, filter) => filter === ALL || kind === filter || (filter === "missed" && kind !== "caught");
const isLong = (values) => values.some((text) => text.length > LONG);

export class EventTable {
  constructor(view) {
    this.view = view;
    this.sorting = IN_ORDER;
    this.filter = ALL;
    this.most = MOST_ROWS;
    this.rows = new Map();
    this.head = make("tr");
    this.body = make("tbody");
    this.filters = make("div", { class: "choice filters", role: "group", "aria-label": "show events that are" });
    this.more = make("button", { type: "button", class: "more", hidden: true, click: () => this.showMore() });
    this.empty = make("p", { class: "hint", hidden: true }, "No event is like that at this threshold.");
    const table = make("table", {}, make("thead", {}, this.head), this.body);
    this.element = make(
      "section",
      { class: "panel events", "aria-label": "events" },
      make("div", { class: "toolbar" }, make("h2", {}, "Events"), this.filters),
      sideways(table, "events"),
      this.empty,
      this.more,
    );
  }

  columns() {
    const { view } = this;
    const { drawn: { truth }, detectors, details } = view.series;
    const active = view.results[view.active];
    const score = (title, column, extra = {}) => ({
      key: title, title, kind: "score", value: (j) => column[j], text: (j) => scoreText(column[j]), ...extra,
    });
    const others = view.shownDetectors().filter((index) => index !== view.active);
    return [
      { key: "event", title: "#", kind: "event stick", value: (j) => j, text: (j) => String(j + 1) },
      { key: "start", title: "start", kind: "time", value: (j) => truth.starts[j], text: (j) => view.series.clock.shortMoment(truth.starts[j]) },
      { key: "lasts", title: "lasts", kind: "time wide", value: (j) => truth.stops[j] - truth.starts[j], text: (j) => view.series.clock.length(truth.stops[j] - truth.starts[j]) },
      ...details.slice(0, MOST_DETAILS).map(([name, values]) => (
        { key: `detail ${name}`, title: name, kind: isLong(values) ? "detail wide long" : "detail wide", value: (j) => values[j], text: (j) => values[j] }
      )),
      { key: "outcome", title: "what happened", kind: "outcome", value: (j) => this.outcomes[j].lead, text: (j) => this.outcomes[j].text },
      score("precision", active.rows.precision, { short: "prec." }),
      score("recall", active.rows.recall),
      score("F1", active.rows.f1),
      ...others.map((index) => score(`F1 ${index}`, view.results[index].rows.f1, { title: detectors[index].name, other: index, kind: "score other" })),
    ];
  }

  // The detectors shown changed, and with them the columns.
  render() {
    this.rows.clear();
    this.refresh(true);
  }

  refresh(rebuild = false) {
    const { view } = this;
    const count = view.series.truth.starts.length;
    this.outcomes = Array.from({ length: count }, (_, j) => outcome(view.series, view.results[view.active], j));
    const columns = this.columns();
    if (!columns.some(({ key }) => key === this.sorting.key)) this.sorting = IN_ORDER; // it is hidden now
    if (rebuild) this.renderHead(columns);
    this.renderFilters();
    const shown = this.order(columns);
    const rows = shown.slice(0, this.most).map((j) => this.row(j, columns));
    const same = rows.length === this.body.children.length && rows.every((row, k) => row === this.body.children[k]);
    if (!same) this.body.replaceChildren(...rows);
    this.empty.hidden = shown.length > 0;
    this.more.hidden = shown.length <= this.most;
    setText(this.more, `show ${counted(shown.length - this.most, "more event")}`);
  }

  order(columns) {
    const { key, direction } = this.sorting;
    const column = columns.find((one) => one.key === key);
    const events = this.outcomes.map((_, j) => j).filter((j) => isShown(this.outcomes[j], this.filter));
    const rank = (value) => (Number.isNaN(value) ? -Infinity : value); // missed events are worst
    return events.sort((p, q) => {
      const [first, second] = [rank(column.value(p)), rank(column.value(q))];
      return first === second ? p - q : direction * (first < second ? -1 : 1);
    });
  }

  renderHead(columns) {
    const cells = columns.map((column) => {
      const sorted = this.sorting.key === column.key;
      const arrow = sorted ? (this.sorting.direction > 0 ? " ▴" : " ▾") : "";
      const swatch = column.other === undefined ? [] : [make("i", { class: "swatch", style: `--swatch: ${detectorVariable(column.other)}` })];
      const button = make("button", { type: "button", title: column.title, click: () => this.sortBy(column.key) }, make("span", {}, make("span", {}, ...swatch, ...nameParts(column.short || column.title), arrow)));
      const direction = this.sorting.direction > 0 ? "ascending" : "descending";
      return make("th", { scope: "col", class: column.kind, "aria-sort": sorted ? direction : null }, button);
    });
    this.head.replaceChildren(...cells);
  }

  renderFilters() {
    if (!this.filters.children.length) {
      for (const name of [ALL, ...OUTCOMES]) {
        this.filters.append(make("button", { type: "button", "data-filter": name, click: () => this.filterBy(name) }, make("span", {}, name), " ", make("b", {})));
      }
    }
    for (const button of this.filters.children) {
      const name = button.dataset.filter;
      setText(button.querySelector("b"), String(this.outcomes.filter((one) => isShown(one, name)).length));
      button.setAttribute("aria-pressed", String(name === this.filter));
    }
  }

  row(j, columns) {
    let row = this.rows.get(j);
    if (!row) {
      const go = () => {
        this.rows.get(j).querySelector("button").focus({ preventScroll: true });
        this.view.select(j);
        this.view.timeline.reveal();
      };
      row = make("tr", { click: go }, ...columns.map((column) => make("td", { class: column.kind })));
      row.firstChild.append(make("button", { type: "button", "aria-label": `go to event ${j + 1}` }));
      this.rows.set(j, row);
    }
    columns.forEach((column, k) => {
      const cell = row.children[k];
      setText(k === 0 ? cell.firstChild : cell, column.text(j));
      if (column.kind.startsWith("score")) cell.style.setProperty("--share", column.value(j) || 0);
    });
    row.dataset.outcome = this.outcomes[j].kind;
    // What is known of the event, where columns of it have no room.
    const details = this.view.series.details.slice(0, MOST_DETAILS);
    const told = (some) => some.map(([, values]) => values[j]).filter(Boolean).join(", ");
    const [known, long] = [told(details), told(details.filter(([, values]) => isLong(values)))];
    const cell = row.querySelector(".outcome");
    toggleAttribute(cell, "data-known", known, known);
    toggleAttribute(cell, "data-long", long, long);
    toggleAttribute(row, "aria-current", this.view.selected === j);
    return row;
  }

  sortBy(key) {
    const again = this.sorting.key === key;
    this.sorting = { key, direction: again ? -this.sorting.direction : 1 };
    this.refresh(true);
    const index = [...this.columns()].findIndex((column) => column.key === key);
    this.head.children[index].firstChild.focus();
  }

  // Neither the page nor the columns move, however many events are left.
  filterBy(name) {
    this.view.holdHeight();
    const widths = [...this.head.children].map((cell) => cell.getBoundingClientRect().width);
    widths.forEach((width, k) => {
      this.head.children[k].style.minWidth = `${width}px`;
    });
    this.filter = name;
    this.refresh();
  }

  showMore() {
    this.most += MOST_ROWS * 5;
    this.refresh();
  }
}
