// The map: a row a group, time from left to right; what state it was in, what happened to it, and its lag.

const MAP_STATES = {
  D: ["down", "down: messages wait and it has no members"], N: ["silent", "nobody reads or commits, and messages wait"],
  R: ["rebalancing", "rebalancing"], S: ["stable", "stable"], E: ["empty", "empty: no members"],
    ".": ["unknown", "no data"],
};
const MARKS = {
  reset: ["M0 4L-4 -3H4z", "offsets reset"], failover: ["M0 -4L4 0L0 4L-4 0z", "coordinator moved"],
  drift: ["M-3.5 -3.5h7v7h-7z", "other assignment than the assignor gives"], upgrade: ["M0 -4L4 3H-4z", "upgrade"],
  deployment: ["M-1 -4h6l-2 2l2 2h-5v5h-1z", "deployment"],
};
const LEGEND = { silent: "nobody reading", unknown: "no data" };
const OTHER_MARK = ["M0 -3.5A3.5 3.5 0 1 0 0.01 -3.5z", "mark"];
const SORTS = {
  worst: () => 0,
  lag: (a, b) => (b.lag ?? -1) - (a.lag ?? -1),
  name: (a, b) => (a.id < b.id ? -1 : 1),
};
const ROW = 21, MOST_AT_ONCE = 60, MAP_ROWS = 17, map = { sort: "worst", width: 700, isWhole: false };

function fillMap() {
  const { document: { map: data, statements } } = page, groups = shownGroups().sort(SORTS[map.sort]);
  map.observer?.disconnect();
  map.drawn = new Map();
  const head = element("div", { class: "head" }, element("h2", { id: "map-head" }, "Groups over time"),
    element("span", { class: "sorts", role: "group", "aria-label": "Order of the map" }, Object.keys(SORTS)
      .map((name) =>
      button(name, () => {
        map.sort = name;
        fillMap();
        overview.map.querySelector(`.sorts button[data-name=${name}]`).focus();
      }, { "aria-pressed": String(map.sort === name), "data-name": name }))), mapLegend());
  if (!data || !groups.length) {
    overview.map.replaceChildren(head, element("p", { class: "quiet" }, page.groups.length
      ? "No group has all of these words and filters."
        : "No groups are known. `groupscope audit` of a log brings them."));
    return;
  }
  map.axis = element("div", { class: "map-axis" });
  map.rows = element("div", { class: "map-rows" });
  map.hover = element("div", { class: "map-hover", hidden: true });
  map.line = element("div", { class: "map-line", hidden: true });
  const rows = groups.map(mapRow), isLong = rows.length > MAP_ROWS + 2 && !map.isWhole;
  map.scroller = element("div", { class: `map-scroller${isLong ? " is-long" : ""}`, tabindex: isLong ? "0" : null,
    role: "group", "aria-label": "Map of groups over time" }, map.rows);
  map.rows.append(...rows, map.line);
  const more = isLong && button(`Show all ${rows.length} rows`, () => {
    map.isWhole = true;
    fillMap();
  }, { class: "plain" });
  const sql = statements?.map && folded("SQL of the map", () => code(statements.map, "SQL of the map"),
    { class: "sql" });
  overview.map.replaceChildren(...[head, map.axis, map.scroller, more, map.hover, sql].filter(Boolean));
  map.width = Math.max(120, Math.floor(rows[0].querySelector(".strip").getBoundingClientRect().width));
  drawMapAxis();
  if (rows.length <= MOST_AT_ONCE) rows.forEach(drawMapRow);
  else {
    map.observer = new IntersectionObserver((entries) => entries.forEach((entry) => {
      if (entry.isIntersecting) drawMapRow(entry.target);
    }), { rootMargin: "400px" });
    rows.forEach((row) => map.observer.observe(row));
  }
  map.rows.addEventListener("pointermove", hoverMap);
  map.rows.addEventListener("pointerleave", leaveMap);
  map.rows.addEventListener("click", clickMap);
}

function mapLegend() {
  const item = (words, title, ...shapes) => element("li", { title },
    shape("svg", { width: 15, height: 13, "aria-hidden": "true" }, shapes), words);
  const states = Object.entries(MAP_STATES).map(([letter, [name, words]]) => item(LEGEND[name] ?? name, words,
    shape("rect", { class: `state ${name}`, width: 15, height: 13 }),
      label(4, 10, letter, { class: `letter ${name}` })));
  const kinds = [...new Set(page.marks.map((mark) => mark.kind))];
  return element("ul", { class: "legend", "aria-label": "Legend of the map" }, states,
    item("lag", "thin line: lag; the number is the last one",
      shape("path", { class: "lag-line", d: "M0 11L5 8L9 3L15 5" })),
    kinds.map((kind) => item(kind, (MARKS[kind] ?? OTHER_MARK)[1], markShape(kind, 7, 7))));
}

function markShape(kind, x, y) {
  return shape("path", { class: `mark ${MARKS[kind] ? kind : "other"}`, d: (MARKS[kind] ?? OTHER_MARK)[0],
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
}

const mapX = (at, width) => ((at - page.document.map.from) / (page.document.map.to - page.document.map.from)) * width;

function drawMapAxis() {
  const { from, to } = page.document.map, width = map.width;
  const ticks = timeTicks(from, to, width).filter(({ at }) => mapX(at, width) > 4 && mapX(at, width) < width - 30);
  map.axis.replaceChildren(element("span", { class: "map-name quiet" }, dayOf(from) === dayOf(to) ? weekdayText(from)
    : `${dateText(from)} – ${dateText(to)}`),
  shape("svg", { class: "axis", width, height: 18, "aria-hidden": "true" }, ticks.map(({ at, text }) => [
    shape("path", { class: "tick", d: `M${mapX(at, width).toFixed(1)} 12v6` }),
      label(mapX(at, width) + 3, 12, text, { class: "tick-text" })]),
  page.marks.filter((mark) => mark.group === null).map((mark) => markShape(mark.kind, mapX(mark.at, width), 13))),
  element("span", { class: "map-last quiet" }, `lag · ${zone.name}`));
}

function mapRow(group) {
  const last = group.lag === null || group.lag === undefined ? "unknown" : numberText(group.lag);
  const silent = group.lag_unknown && last !== "unknown" ? `${last} +?` : last;
  const row = element("a", { class: `map-row ${group.severity}`, href: groupAddress(group.id), "data-id": group.id,
    "aria-label": `${group.id}: ${group.severity === "none" ? "no finding" : group.severity}, ${group.verdict
      ?? "verdict unknown"}, ${
      stateWords(group.id)}, lag ${last}` },
  element("span", { class: "map-name" }, sign(group.severity), named(group.id, 26)),
    element("span", { class: "strip" }),
  element("span", { class: `map-last${last === "unknown" ? " quiet" : ""}`, title: group.lag_unknown
    ? `lag of ${counted(group.lag_unknown, "partition")} is unknown` : null }, last === "unknown" ? "–" : silent));
  row.group = group;
  return row;
}

// The last state, and since when, for those who do not see the map.
function stateWords(id) {
  const { states, from, to, columns } = page.document.map, letters = wholeLetters(states?.[id] ?? "");
  if (!letters) return "no data";
  const last = letters.at(-1);
  let begin = letters.length - 1;
  while (begin > 0 && letters[begin - 1] === last) begin -= 1;
  return `${MAP_STATES[last]?.[0] ?? "unknown"} since ${begin ? momentText(from + (begin * (to - from)) / columns)
    : "the begin"}`;
}

function drawMapRow(row) {
  const { group } = row, { map: data } = page.document;
  if (map.drawn.has(group.id)) return;
  map.drawn.set(group.id, row);
  const letters = data.states?.[group.id] ?? "", { width } = map, height = ROW - 3, step = width / data.columns;
  const layers = new Layers(), texts = [], whole = wholeLetters(letters);
  // A small letter: a short while within what was there before. It must be seen all the same.
  for (let place = 0; place < letters.length; place++)
    if (letters[place] !== whole[place]) layers.box(`state ${MAP_STATES[letters[place].toUpperCase()][0]}`,
      place * step, 0, Math.max(step, 2), height);
  for (let from = 0, to; from < whole.length; from = to) {
    for (to = from + 1; to < whole.length && whole[to] === whole[from]; ) to++;
    const [name] = MAP_STATES[whole[from]];
    layers.box(`state ${name}`, from * step, 0, Math.max((to - from) * step, 1.5), height);
    if ((to - from) * step >= 12 && whole[from] !== ".") texts.push(label(from * step + 3, height - 5.5, whole[from],
      { class: `letter ${name}` }));
  }
  const nodes = layers.nodes().sort((a, b) => isTrouble(a) - isTrouble(b));
  row.querySelector(".strip").replaceChildren(shape("svg", { width, height, "aria-hidden": "true" }, nodes, texts,
    lagLine(data.lag?.[group.id], step, height),
    page.marks.filter((mark) => mark.group === group.id).map((mark) => markShape(mark.kind, mapX(mark.at, width), 5))));
}

// The capital letter that each column has, or had before.
function wholeLetters(letters) {
  let before = [...letters].find((letter) => letter !== "." && letter === letter.toUpperCase()) ?? ".";
  return [...letters].map((letter) => (letter === letter.toUpperCase() ? (before = MAP_STATES[letter] ? letter : ".")
    : before)).join("");
}

const isTrouble = (node) => /silent|down|rebalancing|nobody/.test(node.getAttribute("class")) ? 1 : 0;

function lagLine(values, step, height) {
  if (!values) return null;
  const most = Math.max(...values.map((value) => value ?? 0), 1);
  let path = "";
  // Between two snapshots nothing is measured.
  values.forEach((value, index) => {
    if (value === null) return;
    path += `${path ? "L" : "M"}${(index * step).toFixed(1)} ${(height - 1.5 - (value / most) * (height - 3))
      .toFixed(1)}h${step.toFixed(2)}`;
  });
  return [shape("path", { class: "lag-ground", d: path }), shape("path", { class: "lag-line", d: path })];
}

function mapTime(event) {
  const strip = event.target.closest(".map-row")?.querySelector(".strip"), { from, to } = page.document.map;
  if (!strip) return null;
  const box = strip.getBoundingClientRect(), share = (event.clientX - box.left) / box.width;
  return share < 0 || share > 1 ? null : Math.round(from + share * (to - from));
}

function hoverMap(event) {
  const row = event.target.closest(".map-row"), at = mapTime(event);
  if (at === null || !row) return leaveMap();
  const { states, lag, columns, from, to } = page.document.map,
    place = Math.min(columns - 1, Math.floor(((at - from) / (to - from)) * columns));
  const value = lag?.[row.group.id]?.slice(0, place + 1).findLast((each) => each !== null),
    letter = (states?.[row.group.id]?.[place] ?? ".").toUpperCase(), step = (to - from) / columns;
  const near = page.marks.filter((mark) => (mark.group === row.group.id || mark.group === null)
    && Math.abs(mark.at - at) < 3 * step);
  map.hover.replaceChildren(element("b", null, shortened(row.group.id, 40)), element("br"), momentText(at),
    ` ${zone.name}`, element("br"),
    MAP_STATES[letter]?.[1] ?? "no data", value === null || value === undefined ? "" : `, lag ${numberText(value)}`,
    near.slice(0, 3).map((mark) => [element("br"), shortened(markText(mark), 70)]));
  map.hover.hidden = map.line.hidden = false;
  const outer = overview.map.getBoundingClientRect(), rows = map.rows.getBoundingClientRect();
  map.hover.style.left = `${Math.min(event.clientX - outer.left + 14, outer.width - 260)}px`;
  map.hover.style.top = `${event.clientY - outer.top + 16}px`;
  map.line.style.transform = `translateX(${event.clientX - rows.left}px)`;
}

function leaveMap() {
  map.hover.hidden = map.line.hidden = true;
}

// A click goes to the group at that moment.
function clickMap(event) {
  const row = event.target.closest(".map-row"), at = mapTime(event);
  if (at === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  location.href = groupAddress(row.group.id, { at });
}
