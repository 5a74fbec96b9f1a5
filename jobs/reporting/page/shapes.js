// Elements and shapes. Texts become text nodes and nothing else, so no name is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const element = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const shape = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// A long name in the middle of which something is left out; its whole is a click or a hover away.
function shortened(text, most = 48) {
  if (text === null || text === undefined) return "unknown";
  if (!String(text).trim()) return text === "" ? "(empty name)" : `(${counted(text.length, "space")})`;
  const letters = Array.from(String(text));
  if (letters.length <= most) return String(text);
  const end = Math.floor((most - 1) / 3);
  return `${letters.slice(0, most - 1 - end).join("")}…${letters.slice(-end).join("")}`;
}

// A name that cannot change the direction of the text around it.
function named(text, most = 48, tag = "span") {
  const short = shortened(text, most);
  return element(tag, { class: "name", title: short === text ? null : text }, short);
}

// The parts of a sentence: texts, times, durations, numbers, links to groups.
function sentenceNodes(parts, end = page.about.as_of) {
  return (parts ?? []).map((part) => {
    if (typeof part === "string") return part;
    if (part.g !== undefined)
      return element("a", { class: "name", href: groupAddress(part.g, { at: part.t ?? null }) }, shortened(part.g, 40));
    if (part.t !== undefined)
      return part.t === null ? "unknown" : element("time", { datetime: isoText(part.t),
        title: `${momentText(part.t)} ${zone.name}` }, shortMoment(part.t, end));
    if (part.d !== undefined) return durationText(part.d);
    return numberText(part.n);
  });
}

const badge = (severity) => element("span", { class: `badge ${severity}` }, severity);

function sign(severity) {
  return element("span", { class: `sign ${severity}`, title: severity === "none" ? "no finding" : severity },
    element("span", { "aria-hidden": "true" }, SEVERITY_LETTERS[severity] ?? ""),
    element("span", { class: "unseen" }, severity === "none" ? "no finding" : severity));
}

function button(text, action, attributes) {
  return element("button", { type: "button", onclick: action, ...attributes }, text);
}

// A command or SQL with a button that copies it.
function code(text, label) {
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(text);
      setText(copy, "Copied");
    } catch {
      getSelection().selectAllChildren(body);
      setText(copy, "Selected");
    }
    setTimeout(() => setText(copy, "Copy"), 2 * SECOND);
  }, { class: "copy", "aria-label": `Copy ${label}` });
  const body = element("code", null, text);
  return element("div", { class: "code" }, element("pre", { tabindex: "0", role: "group", "aria-label": label }, body),
    copy);
}

function folded(summary, make, attributes) {
  const node = element("details", { ...attributes, ontoggle: () => {
    if (node.open && !node.dataset.isMade) {
      node.dataset.isMade = "yes";
      node.append(...[make()].flat());
    }
  } }, element("summary", null, summary));
  return node;
}

const SHOWN_ROWS = 200;

// Any table as rows: kinds say how a column's values are written.
function tableView(names, kinds, columns, title, places = null) {
  const size = columns[names[0]]?.length ?? 0, order = places ?? Array.from({ length: size }, (_, index) => index);
  const body = element("tbody", null);
  const kindOf = (place) => (["number", "time"].includes(kinds[place]) ? kinds[place] : null);
  const row = (index) => element("tr", null, names.map((name, place) => {
    const text = valueText(columns[name][index], kinds[place]);
    return element("td", { class: kindOf(place) ?? (text.length > 36 ? "long" : null), "data-label": headText(name) },
      element("span", null, text));
  }));
  const heads = names.map((name, place) => element("th", { scope: "col", class: kindOf(place) }, headText(name)));
  const more = button("", () => add(), { class: "plain" });
  let shown = 0;
  const add = () => {
    body.append(...order.slice(shown, shown + SHOWN_ROWS).map(row));
    shown += SHOWN_ROWS;
    more.hidden = shown >= order.length;
    setText(more, `Show more: ${counted(order.length - shown, "row")} left`);
  };
  add();
  const table = element("table", null, element("thead", null, element("tr", null, heads)), body);
  return element("div", { class: "rows" }, order.length ? element("div", { class: "wide", tabindex: "0", role: "group",
    "aria-label": title }, table) : element("p", { class: "quiet" }, "No rows."), more);
}

const headText = (name) => name.replaceAll("_", " ");

function valueText(value, kind) {
  if (value === null || value === undefined) return "";
  if (kind === "time") return momentText(value, value % SECOND ? 1 : SECOND);
  if (kind === "duration") return durationText(value);
  if (kind === "bool") return value ? "yes" : "no";
  if (kind === "number" && (typeof value === "string" || Number.isInteger(value))) return numberText(value);
  return Array.isArray(value) ? value.map((each) => valueText(each)).join(", ")
    : typeof value === "object" ? Object.values(value).map((each) => valueText(each)).join(" ") : String(value);
}

// Many rectangles of one class are one path: a lane has few elements, however much happened.
class Layers {
  constructor() {
    this.paths = new Map();
  }

  box(name, left, top, width, height) {
    const [x, y, right, down] = [left, top, width, height].map((number) => number.toFixed(1));
    this.add(name, `M${x} ${y}h${right}v${down}h${-right}z`);
  }

  add(name, commands) {
    const path = this.paths.get(name) ?? [];
    if (!path.length) this.paths.set(name, path);
    path.push(commands);
  }

  nodes() {
    return [...this.paths].map(([name, commands]) => shape("path", { class: name, d: commands.join("") }));
  }
}

function label(x, y, text, attributes) {
  return shape("text", { x: x.toFixed(1), y: y.toFixed(1), ...attributes }, text);
}

// Patterns for what colour alone must not say. Once for the page.
function patterns() {
  const line = (name, path) => shape("path", { class: name, d: path });
  const pattern = (id, size, turn, ...children) => shape("pattern", { id, width: size, height: size,
    patternUnits: "userSpaceOnUse", patternTransform: turn ? `rotate(${turn})` : null }, ...children);
  return shape("svg", { class: "patterns", width: 0, height: 0, "aria-hidden": "true" }, shape("defs", null,
    pattern("hatch", 6, 45, line("hatch-ground", "M0 0h6v6h-6z"), line("hatch-line", "M1 0v6")),
    pattern("stripes", 7, -45, line("stripes-ground", "M0 0h7v7h-7z"), line("stripes-line", "M1 0v7")),
    pattern("checks", 6, 0, line("checks-ground", "M0 0h6v6h-6z"), line("checks-mark", "M0 0h3v3h-3zM3 3h3v3h-3z")),
    pattern("dots", 6, 0, line("dots-ground", "M0 0h6v6h-6z"),
      shape("circle", { class: "dots-mark", cx: 3, cy: 3, r: 0.9 })),
    pattern("stuck", 9, -45, line("stuck-line", "M1 0v9")),
    pattern("second", 5, 60, line("second-line", "M1 0v5")),
    pattern("third", 5, 0, line("third-line", "M0 1h5"))));
}
