// Scores, lengths of time and outcomes as people read them; the same words as closecall's own
// wording.py, to the letter.

import { OUTCOMES } from "./score.js";

const UNITS = [["d", 86400], ["h", 3600], ["min", 60]];
const FRACTIONS = [["s", 0.1, 1], ["ms", 1e-3, 1e3], ["us", 1e-6, 1e6], ["ns", 0, 1e9]];
// From this many seconds on, finer steps than that say nothing.
const STEPS = [[86400, 3600], [3600, 60], [120, 1], [59.95, 0.1]];
const RATES = [["a second", 1], ["a minute", 60], ["an hour", 3600], ["a day", 86400],
  ["a week", 604800], ["a month", 2629800], ["a year", 31557600]];
const LEAST_RATE = 0.1;
const LEAST_LEVEL = 0.05;
const MOSTLY = 0.5; // of the time in alarm, from where on that is told, and no delay
const LENGTHS = { ms: 0.001, s: 1, second: 1, min: 60, minute: 60, h: 3600, hour: 3600, d: 86400, day: 86400, w: 604800, week: 604800 };

// Whether a number that is written in full lies halfway behind an even digit: where only so much of
// it is kept, Python rounds down to that digit and a browser up.
function downToEven(exact, kept) {
  return /[02468]$/.test(exact.slice(0, kept)) && /^\.?50*(e|$)/.test(exact.slice(kept));
}

// A number with so many decimals, as Python's format "f" writes it.
function fixed(value, digits) {
  const exact = value.toFixed(100);
  const kept = exact.indexOf(".") + (digits ? digits + 1 : 0);
  return downToEven(exact, kept) ? exact.slice(0, kept) : value.toFixed(digits);
}

// A number with so many digits, as Python's format "g" writes it.
export function general(value, digits) {
  if (value === 0) return "0";
  const exact = value.toExponential(100);
  const kept = exact.indexOf(".") + (digits > 1 ? digits : 0);
  const [mantissa, exponent] = downToEven(exact, kept)
    ? [exact.slice(0, kept), exact.split("e")[1]]
    : value.toExponential(digits - 1).split("e");
  const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0*$/, "") : text);
  const power = Number(exponent);
  if (power >= -4 && power < digits) {
    return trimmed(Number(`${mantissa}e${exponent}`).toFixed(digits - 1 - power));
  }
  return `${trimmed(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

// 1 and 0 only for exactly that; a dash for what is undefined.
export function scoreText(value, digits = 2) {
  if (Number.isNaN(value)) return "–";
  const text = fixed(value, digits);
  const least = 10 ** -digits;
  if (Number(text) === 1 && value < 1) return `>${(1 - least).toFixed(digits)}`;
  return Number(text) === 0 && value > 0 ? `<${least.toFixed(digits)}` : text;
}

export function inWords(seconds) {
  if (Number.isNaN(seconds)) return "undefined";
  if (!Number.isFinite(seconds)) return "never";
  const sign = seconds < 0 ? "-" : "";
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  for (const [least, step] of STEPS) {
    if (size >= least) return sign + inUnits(halfToEven(size / step) * step);
  }
  const [unit, , scale] = FRACTIONS.find(([, least]) => size >= least);
  return `${sign}${general(size * scale, 3)} ${unit}`;
}

function inUnits(seconds) {
  const parts = [];
  let rest = seconds;
  for (const [unit, length] of UNITS) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count) parts.push(`${count} ${unit}`);
  }
  const tenths = halfToEven(rest * 10) / 10;
  if (tenths) parts.push(`${tenths} s`);
  return parts.join(" ");
}

export function halfToEven(value) {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 ? floor + 1 : floor;
}

// A length of time: seconds of a dated axis in words, else the bare number.
export function lengthText(value, dated) {
  if (dated) return inWords(value);
  return Number.isInteger(value) ? value.toFixed(0) : general(value, 4);
}

// What happened to an event: how late its alarm was, or how near it came.
export function outcomeText(outcome, delay, nearest, dated, already = false) {
  if (already) return "already in alarm";
  if (outcome === "caught" && !Number.isNaN(delay)) {
    if (delay === 0) return "on time";
    return `${lengthText(Math.abs(delay), dated)} ${delay > 0 ? "late" : "early"}`;
  }
  if (Number.isNaN(nearest)) return outcome;
  const side = nearest < 0 ? "before" : "after";
  const away = nearest === 0 ? "touches it" : `${lengthText(Math.abs(nearest), dated)} ${side}`;
  return `${outcome}, ${outcome === "missed" ? "nearest " : ""}${away}`;
}

// What people ask first: how many events were caught, how fast, at which price. Chance is how many
// chance catches: nan without alarms, undefined while it is not known.
export function headline({ caught, events, chance, medianDelay, alarmed, falseAlarms, length, dated, fewest = 0 }) {
  const parts = [`${caught} of ${events} caught`];
  if (Number.isNaN(chance)) return `${parts[0]}, no alarms`;
  if (chance !== undefined) parts[0] += ` (${levelText(chance)} by chance)`;
  if (alarmed > MOSTLY) {
    parts.push(`in alarm ${percentText(alarmed)} of the time`);
  } else if (caught) {
    const delay = medianDelay === Infinity ? "never" : lengthText(Math.abs(medianDelay), dated);
    parts.push(medianDelay < 0 ? `median ${delay} early` : `median delay ${delay}`);
  }
  if (falseAlarms || alarmed <= MOSTLY) parts.push(rateText(falseAlarms, "false alarm", length, dated, fewest));
  return parts.join(", ");
}

// How many events chance catches: with one decimal, unless it is a whole number.
export function levelText(level) {
  if (level > 0 && level < LEAST_LEVEL) return `<${2 * LEAST_LEVEL}`;
  return fixed(level, Number.isInteger(level) ? 0 : 1);
}

// A share as a percentage: 100 % and 0 % only for exactly that.
export function percentText(share) {
  const percent = 100 * share;
  if (halfToEven(percent) === 100 && share < 1) return ">99 %";
  if (percent > 0 && percent < LEAST_LEVEL) return `<${2 * LEAST_LEVEL} %`;
  return `${percent >= 10 || percent === 0 ? fixed(percent, 0) : general(percent, 2)} %`;
}

// How often something happened, in the unit of time that suits the fewest told beside it.
export function rateText(count, noun, length, dated, fewest = 0) {
  if (count === 0) return `no ${noun}s`;
  const [unit, size] = rateUnit(fewest || count, length, dated);
  const per = (count / length) * size;
  const value = per < 10 ? general(per, 2) : fixed(per, 0);
  return `${value} ${noun}${value === "1" ? "" : "s"} ${unit}`;
}

// The unit of time in which so many in that length are told, and how long it is.
export function rateUnit(count, length, dated) {
  const rate = count / length;
  if (dated) {
    const held = Math.max(0, RATES.slice(0, 4).findLastIndex((one) => length >= one[1]));
    const longer = RATES.slice(held);
    return longer.find((one) => rate * one[1] >= LEAST_RATE) || longer.at(-1);
  }
  const size = 10 ** Math.max(0, Math.ceil(-Math.log10(rate)));
  return [size > 1 ? `per ${size.toFixed(0)}` : "per unit of time", size];
}

// A length that somebody typed: "30 min", "2 d" or "day" in seconds, or a bare number; nan if none.
export function readLength(text, dated) {
  const [, number, unit] = /^([\d.]*)\s*([a-z]*)$/.exec(text.trim().toLowerCase()) || [];
  const count = number === "" ? 1 : Number(number);
  if (!dated) return unit === "" && number !== "" && count > 0 ? count : NaN;
  const seconds = LENGTHS[unit] || LENGTHS[(unit || "").replace(/s$/, "")];
  return seconds && count > 0 ? count * seconds : NaN;
}

export function numberText(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "inf" : "-inf";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return String(Number(value.toPrecision(5)));
}

export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

// What happened to an event of a series.
export function outcome({ clock }, { rows }, j) {
  const kind = OUTCOMES[rows.outcome[j]];
  const [delay, nearest] = [rows.delay[j], rows.nearest[j]];
  const text = outcomeText(kind, clock.duration(delay), clock.duration(nearest), clock.dated, rows.already[j] === 1);
  return { kind, lead: Number.isNaN(delay) ? nearest : delay, text };
}

// With all results of the series, rates are told in one unit of time.
function toldWith({ clock, span }, result, all) {
  const some = all.map((one) => one.falseAlarms).filter((count) => count > 0);
  return { length: clock.evaluated(span[1] - span[0]), dated: clock.dated, fewest: Math.min(...some) };
}

// The level of chance is that of the result's own alarms, if it is known already.
export function headlineOf(series, result, level, all = [result]) {
  return headline({
    caught: result.caught,
    events: series.truth.starts.length,
    chance: result.alarms ? level?.caught : NaN,
    alarmed: result.alarmed,
    medianDelay: series.clock.duration(result.medianDelay),
    falseAlarms: result.falseAlarms,
    ...toldWith(series, result, all),
  });
}

// The rate of false alarms alone, for a column of that name.
export function falseAlarmsOf(series, result, all) {
  const { length, dated, fewest } = toldWith(series, result, all);
  return result.falseAlarms ? rateText(result.falseAlarms, "", length, dated, fewest).replace(/ s? /, " ") : "none";
}
