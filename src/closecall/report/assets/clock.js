// What an offset on the time axis means: a moment to write, a length in words, and marks of the axis.

import { halfToEven, inWords, numberText } from "./words.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
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

// Marks of the time axis, at round numbers or at round moments of the series' own zone.
// Plotly's numbers cannot tell nanoseconds of today apart, and its dates know no zone.

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONDAY = 4 * DAY; // the first after 1970 began
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 4, 7, 14].map((n) => n * DAY),
];
const MONTHS = [1, 3, 6];
const MONTH_NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MOST = 300; // whatever happens
const LEAST = 95; // pixels between marks
const LONG = 150; // where marks tell fractions of a second
const LETTER = 7; // pixels

// The first of 1, 2, 5, 10, 20, ... that is not below a size.
function roundStep(size) {
  const power = 10 ** Math.floor(Math.log10(size));
  const factor = [1, 2, 5].find((one) => one * power >= size * (1 - 1e-9)) || 10;
  return power < 1 ? factor / Math.round(1 / power) : factor * power;
}

function wholeNumbers(clock, from, to, size) {
  const origin = BigInt(clock.origin);
  const step = BigInt(Math.max(1, roundStep(size)));
  const [low, high] = [from, to].map((end) => origin + BigInt(Math.floor(end * clock.unit)));
  const ticks = [];
  for (let value = (low / step - 1n) * step; value <= high && ticks.length < MOST; value += step) {
    if (value >= low) ticks.push({ offset: Number(value - origin) / clock.unit, text: value.toLocaleString("en") });
  }
  return ticks;
}

function numbers(clock, from, to, size) {
  const step = roundStep(size);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const write = (value) =>
    digits > 12 || Math.abs(value) >= 1e15
      ? String(Number(value.toPrecision(12)))
      : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const first = Math.ceil(from / step);
  const count = Math.min(Math.floor(to / step) - first + 1, MOST);
  return Array.from({ length: Math.max(0, count) }, (_, k) => (first + k) * step).map((value) => ({ offset: value, text: write(value) }));
}

// Below a second: counted from a whole second, or from a whole millisecond for what divides it.
function instants(clock, from, to, step) {
  const [whole, fraction] = clock.milliseconds(from);
  const base = step < 1 ? whole : Math.floor(whole / SECOND) * SECOND;
  const first = Math.ceil((whole - base + fraction) / step);
  const count = Math.min(Math.ceil(((to - from) * clock.unit) / step), MOST);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)); // of a millisecond
  return Array.from({ length: count }, (_, k) => {
    const later = ((first + k) * step).toFixed(digits);
    const wall = new Date(base + clock.shift(base) + Math.floor(Number(later)));
    const below = digits ? later.slice(-digits) : "";
    return { offset: clock.offset(base, Number(later)), wall, text: wall.toISOString().slice(11, -1) + below };
  });
}

function* moments(low, high, step) {
  const origin = step % (7 * DAY) === 0 ? MONDAY : 0;
  for (let at = Math.ceil((low - origin) / step) * step + origin; at < high; at += step) yield at;
}

function* months(low, high, step) {
  const first = new Date(low);
  let month = Math.floor((first.getUTCFullYear() * 12 + first.getUTCMonth()) / step) * step;
  for (; ; month += step) {
    const date = new Date(0);
    date.setUTCFullYear(Math.floor(month / 12), month % 12, 1);
    if (!(date.getTime() < high)) return;
    if (date.getTime() >= low) yield date.getTime();
  }
}

// The texts of a step: what every mark says, and what is said again only when it changes.
function textsOf(step, inMonths) {
  const day = (wall) => `${MONTH_NAMES[wall.getUTCMonth()]} ${wall.getUTCDate()}`;
  const year = (wall) => String(wall.getUTCFullYear());
  if (inMonths && step >= 12) return [year, () => ""];
  if (inMonths) return [(wall) => MONTH_NAMES[wall.getUTCMonth()], year];
  if (step >= DAY) return [day, year];
  return [(wall) => wall.toISOString().slice(11, step < MINUTE ? 19 : 16), (wall) => `${day(wall)}, ${year(wall)}`];
}

function dates(clock, from, to, size) {
  if (size < SECOND / 2) return changing(instants(clock, from, to, roundStep(size)), ({ text }) => text, textsOf(SECOND, false)[1]);
  const fixed = STEPS.find((one) => one >= size);
  const wanted = size / (30 * DAY);
  const step = fixed || MONTHS.find((one) => one >= wanted) || 12 * roundStep(Math.max(1, wanted / 12));
  const [start, stop] = [from, to].map((end) => clock.milliseconds(end)[0]);
  const ticks = [];
  for (const [low, high, shift] of clock.stretches(start, stop + 1)) {
    for (const wall of (fixed ? moments : months)(low + shift, high + shift, step)) {
      if (ticks.length < MOST) ticks.push({ offset: clock.offset(wall - shift), wall: new Date(wall) });
    }
  }
  const [text, again] = textsOf(step, !fixed);
  return changing(ticks, ({ wall }) => text(wall), again);
}

// The second line of a mark is written where it changes.
function changing(ticks, text, again) {
  let before = null;
  return ticks.map((tick) => {
    const below = again(tick.wall);
    const changed = below !== before;
    before = below;
    return { offset: tick.offset, text: text(tick), below, changed };
  });
}

// Marks for a window, and for as much on both sides of it, which shows while it is dragged.
export function ticksOf(clock, from, to, pixels) {
  const width = to - from;
  const apart = clock.dated ? (width * clock.unit < MINUTE / 10 ? LONG : LEAST) : Math.max(LEAST, LETTER * (clock.moment(to).length + 6));
  const size = (width * clock.unit) / Math.max(2, pixels / apart);
  if (!(size > 0)) return { values: [], texts: [] };
  const make = clock.dated ? dates : clock.kind === "number" ? numbers : wholeNumbers;
  const ticks = make(clock, from - width, to + width, size);
  const first = ticks.findIndex(({ offset }) => offset >= from);
  return {
    values: ticks.map(({ offset }) => offset),
    texts: ticks.map(({ text, below, changed }, k) => (below && (changed || k === first) ? `${text}<br>${below}` : text)),
  };
}
