// Times, durations and numbers as people say them. All times are milliseconds since 1970.

const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const TICK_STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE,
  2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY,
  2 * DAY, 5 * DAY, 10 * DAY, 30 * DAY, 90 * DAY, 365 * DAY,
];

const zone = { name: "UTC", choices: ["UTC"], formats: new Map(), offsets: new Map() };

function isZone(name) {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

// The zone of the report first, since times inside its texts are in it.
function setUpZones(ofReport) {
  const names = [ofReport, Intl.DateTimeFormat().resolvedOptions().timeZone, "UTC"];
  zone.choices = [...new Set(names)].filter((name) => name && isZone(name));
  if (!zone.choices.includes(zone.name) || zone.isUntouched !== false) zone.name = zone.choices[0];
}

// How far local time is ahead. Intl is slow, and no zone changes within a quarter of an hour.
function zoneOffset(at) {
  if (zone.name === "UTC") return 0;
  const quarter = Math.floor(at / (15 * MINUTE)), key = `${zone.name} ${quarter}`;
  let offset = zone.offsets.get(key);
  if (offset === undefined) {
    let format = zone.formats.get(zone.name);
    if (!format) {
      format = new Intl.DateTimeFormat("en-US", {
        timeZone: zone.name, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric",
        minute: "numeric", second: "numeric",
      });
      zone.formats.set(zone.name, format);
    }
    const from = quarter * 15 * MINUTE, parts = {};
    for (const { type, value } of format.formatToParts(from)) parts[type] = Number(value);
    offset = Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second) - from;
    zone.offsets.set(key, offset);
  }
  return offset;
}

const local = (at) => new Date(at + zoneOffset(at));
const two = (number) => String(number).padStart(2, "0");
const dayOf = (at) => Math.floor((at + zoneOffset(at)) / DAY);

function dateText(at, hasYear = true) {
  const date = local(at);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}${hasYear ? ` ${date.getUTCFullYear()}` : ""}`;
}

const weekdayText = (at) => `${WEEKDAYS[local(at).getUTCDay()]} ${dateText(at)}`;

// The clock: seconds where the step needs them, milliseconds below a second.
function clockText(at, step = SECOND) {
  const date = local(at), minutes = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
  if (step >= MINUTE) return minutes;
  const seconds = `${minutes}:${two(date.getUTCSeconds())}`;
  return step >= SECOND ? seconds : `${seconds}.${String(date.getUTCMilliseconds()).padStart(3, "0")}`;
}

function momentText(at, step = SECOND) {
  return at === null || at === undefined ? "unknown" : `${dateText(at)} ${clockText(at, step)}`;
}

// Within a sentence: the date only where it is another day than the report's end.
function shortMoment(at, end) {
  if (at === null || at === undefined) return "unknown";
  if (end !== null && end !== undefined && dayOf(at) === dayOf(end)) return clockText(at);
  return `${dateText(at, false)} ${clockText(at, MINUTE)}`;
}

function durationText(ms) {
  if (ms === null || ms === undefined) return "unknown";
  if (ms < 0) return `-${durationText(-ms)}`;
  if (ms < 10) return ms === 0 ? "0 s" : "under 10 ms";
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${trimmed(ms / SECOND, 1)} s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  const sizes = [[DAY, "d"], [HOUR, "h"], [MINUTE, "min"], [SECOND, "s"]];
  const place = sizes.findIndex(([size]) => ms >= size);
  const [size, name] = sizes[place], [next, nextName] = sizes[Math.min(place + 1, 3)];
  const rest = Math.floor((ms % size) / next);
  return `${Math.floor(ms / size)} ${name}${rest && place < 3 && ms < 10 * DAY ? ` ${rest} ${nextName}` : ""}`;
}

const trimmed = (number, places) => number.toFixed(places).replace(/\.?0+$/, "");

function numberText(number) {
  if (number === null || number === undefined) return "unknown";
  // Beyond 2^53 it comes as text, since JavaScript would round it.
  if (typeof number === "string" || Number.isInteger(number)) return String(number)
    .replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return Math.abs(number) >= 100 ? numberText(Math.round(number)) : trimmed(number, Math.abs(number) >= 10 ? 1 : 2);
}

// On an axis, where there is little room.
function shortNumber(number) {
  for (const [size, name] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]])
    if (Math.abs(number) >= size) return `${trimmed(number / (name === "k" ? 1e3 : size), 1)}${name}`;
  return numberText(number);
}

const counted = (number, noun, plural = `${noun}s`) => `${numberText(number)} ${number === 1 ? noun : plural}`;

const isoText = (at) => new Date(at).toISOString().replace(".000Z", "Z");

// Of an address: a time in ISO form or in milliseconds; null if it is neither.
function timeOf(text) {
  if (!text) return null;
  const at = /^-?\d+$/.test(text) ? Number(text) : Date.parse(text);
  return Number.isFinite(at) && Math.abs(at) < 8e15 ? at : null;
}

// Ticks of an axis at round local times, about `width` pixels apart; each day that begins is named.
function timeTicks(from, to, pixels, width = 96) {
  const step = TICK_STEPS.find((each) => ((to - from) / each) * width <= pixels) ?? 365 * DAY, ticks = [];
  let at = Math.ceil((from + zoneOffset(from)) / step) * step - zoneOffset(from), lastDay = dayOf(from);
  for (let count = 0; at <= to && count < 400; count++) {
    const day = dayOf(at), isNewDay = day !== lastDay || step >= DAY;
    ticks.push({ at, text: isNewDay ? dateText(at, false) + (step < DAY && clockText(at, step) !== "00:00"
      ? ` ${clockText(at, step)}` : "") : clockText(at, step), isNewDay });
    lastDay = day;
    const before = zoneOffset(at);
    at += step;
    if (step >= HOUR) at -= zoneOffset(at) - before;
  }
  return ticks;
}
