// What an offset on the time axis means: a moment to write, and a length in words.

import { halfToEven, inWords, numberText } from "./words.js";

const MINUTE = 60000;
const NANOSECONDS = 1e6; // in a millisecond

function shiftText(milliseconds) {
  const minutes = Math.abs(milliseconds) / MINUTE;
  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  return `${milliseconds < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

export class Clock {
  constructor(raw, span) {
    this.kind = raw.kind; // samples, integer, number or datetime
    this.dated = raw.kind === "datetime";
    this.unit = Number(raw.unit); // of one offset: milliseconds, or the caller's own
    [this.step, this.perSecond] = raw.ticks || [this.unit, 1]; // ticks of one offset, and of a second
    this.origin = raw.origin; // as text, since a number could not hold every integer
    this.start = Number(raw.origin);
    this.rest = raw.rest || 0; // of the origin, below a millisecond
    this.zone = raw.zone || "";
    this.shifts = raw.shifts || []; // of the zone: from when on, and by how much, in milliseconds
    this.oneYear = this.dated && new Set(span.map((end) => this.moment(end).slice(0, 5))).size === 1;
  }

  // A moment as whole milliseconds in UTC, and what remains; nanoseconds need both.
  milliseconds(offset) {
    const since = this.rest + offset * this.unit;
    const whole = Math.floor(since);
    const fraction = Math.round((since - whole) * NANOSECONDS) / NANOSECONDS;
    return fraction < 1 ? [this.start + whole, fraction] : [this.start + whole + 1, 0];
  }

  // The offset of a moment that is this much later than another.
  offset(milliseconds, later = 0) {
    return (milliseconds - this.start + (later - this.rest)) / this.unit;
  }

  // Stretches of time in which the zone does not change, as [from, to, shift].
  stretches(from, to) {
    const found = this.shifts.length ? this.shifts : [[-Infinity, 0]];
    return found
      .map(([first, shift], k) => [k ? Math.max(first, from) : from, k + 1 < found.length ? Math.min(found[k + 1][0], to) : to, shift])
      .filter(([start, stop]) => start < stop);
  }

  shift(milliseconds) {
    let shift = 0;
    this.shifts.forEach(([first, found], k) => {
      if (k === 0 || first <= milliseconds) shift = found;
    });
    return shift;
  }

  // Where clocks go back, an hour comes twice.
  comesTwice(milliseconds) {
    return this.shifts.some(([at, shift], k) => k > 0 && Math.abs(milliseconds - at + 0.5) < this.shifts[k - 1][1] - shift);
  }

  moment(offset) {
    if (this.kind === "samples") return Math.floor(offset).toLocaleString("en");
    if (this.kind === "integer") {
      return String(BigInt(this.origin) + BigInt(Math.floor(offset * this.unit)));
    }
    if (!this.dated) return numberText(offset * this.unit);
    const [utc, fraction] = this.milliseconds(offset);
    const shift = this.shift(utc);
    const date = new Date(utc + shift);
    if (Number.isNaN(date.getTime())) return numberText(utc);
    const text = date.toISOString().replace("T", " ").replace("Z", "");
    return this.shortened(text, this.unit < 1 ? fraction : 0) + (this.comesTwice(utc) ? ` ${shiftText(shift)}` : "");
  }

  // Seconds and their fractions only where they are not zero.
  shortened(text, fraction) {
    if (fraction) return text + String(Math.round(fraction * NANOSECONDS)).padStart(6, "0").replace(/000$/, "");
    if (text.endsWith(":00.000")) return text.slice(0, -7);
    return text.endsWith(".000") ? text.slice(0, -4) : text;
  }

  // The same without the year, where the whole span lies in one.
  shortMoment(offset) {
    return this.oneYear ? this.moment(offset).slice(5) : this.moment(offset);
  }

  // A length as results tell it: in seconds, to the nanosecond, or in the caller's own unit.
  duration(offsets) {
    const ticks = offsets * this.step;
    if (!this.dated || !Number.isFinite(ticks)) return ticks;
    const nanoseconds = ticks * (1e9 / this.perSecond);
    return Math.abs(nanoseconds) < 2 ** 63 ? halfToEven(nanoseconds) / 1e9 : halfToEven(ticks) / this.perSecond;
  }

  // The length of the evaluated time, in seconds or in the caller's own unit.
  evaluated(offsets) {
    return offsets * this.step * (this.dated ? 1 / this.perSecond : 1);
  }

  // How many offsets a length is, given as `duration` gives it.
  offsets(duration) {
    return (duration * this.perSecond) / this.step;
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
