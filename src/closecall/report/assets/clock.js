// What an offset on the time axis means: a moment to write, a length in words, a place to draw.

import { inWords, numberText } from "./words.js";

const MINUTE = 60000;

export class Clock {
  constructor(raw, span) {
    this.kind = raw.kind; // samples, integer, number or datetime
    this.dated = raw.kind === "datetime";
    this.unit = Number(raw.unit); // of one offset: milliseconds, or the caller's own
    this.origin = raw.origin; // as text, since a number could not hold every integer
    this.zone = raw.zone || "";
    this.start = Number(raw.origin);
    this.oneYear = this.dated && new Set(span.map((end) => this.moment(end).slice(0, 5))).size === 1;
  }

  // Where plotly draws an offset; it takes dates as milliseconds.
  place(offset) {
    return this.start + offset * this.unit;
  }

  offset(place) {
    return (place - this.start) / this.unit;
  }

  // An end of an axis range, which plotly writes as text once it is dated.
  fromRange(value) {
    if (typeof value !== "string" || !this.dated) return this.offset(Number(value));
    const [whole, fraction = ""] = value.replace(" ", "T").split(".");
    const stamp = whole.length === 10 ? `${whole}T00:00` : whole.length === 13 ? `${whole}:00` : whole;
    return this.offset(Date.parse(`${stamp}Z`) + Number(`0.${fraction || 0}`) * 1000);
  }

  moment(offset) {
    if (this.kind === "samples") return Math.floor(offset).toLocaleString("en");
    if (this.kind === "integer") {
      return String(BigInt(this.origin) + BigInt(Math.floor(offset * this.unit)));
    }
    if (!this.dated) return numberText(this.place(offset));
    const place = this.place(offset);
    const date = new Date(Math.floor(place));
    if (Number.isNaN(date.getTime())) return numberText(place);
    const text = date.toISOString().replace("T", " ").replace("Z", "");
    if (place % MINUTE === 0) return text.slice(0, -7);
    return place % 1000 === 0 ? text.slice(0, -4) : text;
  }

  // The same without the year, where the whole span lies in one.
  shortMoment(offset) {
    return this.oneYear ? this.moment(offset).slice(5) : this.moment(offset);
  }

  // A length of time in words; the axis of samples counts samples.
  length(offsets) {
    if (Number.isNaN(offsets)) return "–";
    if (this.dated) return inWords((offsets * this.unit) / 1000);
    const text = numberText(offsets * this.unit);
    if (this.kind !== "samples") return text;
    return `${text} sample${offsets === 1 ? "" : "s"}`;
  }
}
