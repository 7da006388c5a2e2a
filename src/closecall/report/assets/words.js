// Scores and lengths of time as people read them; the same words as closecall's own.

const UNITS = [["d", 86400], ["h", 3600], ["min", 60]];
const FRACTIONS = [["s", 0.1, 1], ["ms", 1e-3, 1e3], ["us", 1e-6, 1e6], ["ns", 0, 1e9]];
// From this many seconds on, finer steps than that say nothing.
const STEPS = [[86400, 3600], [3600, 60], [120, 1], [59.95, 0.1]];

// 1 and 0 only for exactly that; a dash for what is undefined.
export function scoreText(value, digits = 2) {
  if (Number.isNaN(value)) return "–";
  const text = value.toFixed(digits);
  const least = 10 ** -digits;
  if (Number(text) === 1 && value < 1) return `>${(1 - least).toFixed(digits)}`;
  return Number(text) === 0 && value > 0 ? `<${least.toFixed(digits)}` : text;
}

// What chance reaches.
export function chanceText(level) {
  if (Number.isNaN(level)) return scoreText(level);
  return `chance ${scoreText(level)}`;
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
  return `${sign}${Number((size * scale).toPrecision(3))} ${unit}`;
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

function halfToEven(value) {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 ? floor + 1 : floor;
}

export function numberText(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "inf" : "-inf";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return String(Number(value.toPrecision(5)));
}

export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
