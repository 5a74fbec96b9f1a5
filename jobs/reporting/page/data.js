// The document of the report: its columns, tables and details, and what the page remembers between views.

const page = {
  document: null, about: {}, groups: [], byId: new Map(), findings: [], marks: [], details: new Map(),
  filter: { words: "", severity: "", type: "", state: "" },
  view: { name: "overview", group: null, at: null, from: null, to: null, rebalance: null },
};

const SEVERITIES = ["critical", "warning", "info"];
const SEVERITY_LETTERS = { critical: "C", warning: "W", info: "i" };

// A column as a plain array: as it is, bytes, words by index, or what is more or less than another column.
function column(values, table, bytes) {
  if (Array.isArray(values)) return values;
  if (values.n !== undefined) return numbersOf(values, bytes);
  if (values.w) return column(values.i, table, bytes).map((index) => (index < 0 ? null : values.w[index]));
  return column(values.v, table, bytes)
    .map((more, index) => (more === null ? null : more + (table[values.of][index] ?? 0)));
}

// Numbers of `w` bytes, of which all lowest ones come first; with `f` they are steps that begin there. The smallest
// number stands for none.
function numbersOf({ p, n, w, f }, bytes) {
  const half = 2 ** (8 * w - 1);
  let sum = f ?? 0;
  return Array.from({ length: n }, (_, index) => {
    let value = 0;
    for (let plane = w - 1; plane >= 0; plane--) value = value * 256 + bytes[p + plane * n + index];
    value = value < half ? value : value - 2 * half;
    return value === -half ? null : f === undefined ? value : (sum += value);
  });
}

// A table as columns of plain arrays, with its number of rows.
function tableOf(columns, bytes) {
  // Those that stand on another one come after it.
  const table = { size: 0 }, entries = Object.entries(columns ?? {})
    .sort(([, a], [, b]) => Boolean(a.of) - Boolean(b.of));
  for (const [name, values] of entries) {
    table[name] = column(values, table, bytes);
    table.size = table[name].length;
  }
  return table;
}

function rowsOf(columns) {
  const table = tableOf(columns), names = Object.keys(table).filter((name) => name !== "size");
  return Array.from({ length: table.size }, (_, index) =>
    Object.fromEntries(names.map((name) => [name, table[name][index]])));
}

// The whole document is replaced; view, zoom and cursor are not.
function takeDocument(document) {
  page.document = document;
  page.about = document.about;
  page.groups = rowsOf(document.groups).sort((a, b) => a.rank - b.rank);
  page.byId = new Map(page.groups.map((group) => [group.id, group]));
  page.findings = rowsOf(document.findings);
  page.marks = rowsOf(document.marks);
  page.details = new Map();
  for (const group of page.groups) {
    group.severity = group.severity || "none";
    const { id, type, state, assignor, verdict, topics = [], words = "" } = group;
    group.searched = [id, type, state, assignor, verdict, ...topics, words].join(" ").toLowerCase();
  }
  setUpZones(page.about.zone);
}

async function detailOf(id) {
  if (page.details.has(id)) return page.details.get(id);
  const packed = page.document.details?.[id];
  if (packed === undefined) return null;
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const raw = await new Response(stream).arrayBuffer(), end = 4 + new DataView(raw).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(raw, 4, end - 4));
  const detail = withTables(JSON.parse(text), new Uint8Array(raw, end));
  page.details.set(id, detail);
  return detail;
}

const DETAIL_TABLES = [
  "partitions", "members", "states", "rebalances", "assignments", "owners", "silence", "lag", "partition_lag",
  "commits", "rates", "resets", "moves", "events", "stuck", "removed",
];

// Tables that are absent become empty; what each partition has is found by halving.
function withTables(detail, bytes) {
  for (const name of DETAIL_TABLES) detail[name] = tableOf(detail[name], bytes);
  const command = (at) => (detail.why && at !== null ? detail.why[0] + new Date(at).toISOString() + detail.why[1]
    : null);
  detail.rebalances.command = detail.rebalances.start?.map(command);
  detail.events.command = detail.events.at?.map((at, index) => (detail.events.rebalance[index] < 0 ? command(at)
    : null));
  // Of one record: an axis needs a length.
  if (detail.to - detail.from < SECOND) [detail.from, detail.to] = [detail.from - SECOND / 2, detail.to + SECOND / 2];
  const { events, rebalances, owners } = detail;
  // A rebalance is an event whose words are in its own row.
  events.text = (events.at ?? []).map((_, index) => {
    const place = events.rebalance?.[index] ?? -1;
    if (place < 0) return [causeText(events.kind[index]), events.sentence[index]].filter(Boolean).join(": ");
    return [causeText(rebalances.cause[place]), rebalances.sentence[place]].filter(Boolean).join(": ");
  });
  // Until when the new owner has got a partition that nobody read: known by how long it was unread at most.
  const { moves } = detail, longest = new Map((moves.at ?? [])
    .map((at, index) => [`${moves.partition[index]} ${at}`, moves.unread_high[index] ?? 0]));
  owners.ends = owners.to?.map((to, index) => Math.max(to, (owners.doubt_from?.[index] ?? owners.from[index])
    + (longest.get(`${owners.partition[index]} ${to}`) ?? 0)));
  detail.of_partition = {
    lag: byPartition(detail.partition_lag),
    commits: byPartition(detail.commits),
    silence: byPartition(detail.silence),
    target: byPartition(owners, (index) => owners.view[index] === "target" && isReader(owners, index)),
    unread: byPartition(owners, (index) => owners.view[index] === "reader"),
  };
  return detail;
}

// Of each partition the places of its rows in a table, by time.
function byPartition(table, isWanted = () => true) {
  const result = new Map(), times = table.since ?? table.from ?? table.at;
  for (let index = 0; index < table.size; index++) {
    if (!isWanted(index)) continue;
    const partition = table.partition[index];
    if (!result.has(partition)) result.set(partition, []);
    result.get(partition).push(index);
  }
  for (const places of result.values()) places.sort((a, b) => times[a] - times[b]);
  return result;
}

// The last of the places whose time is not after `at`; -1 if there is none.
function lastUntil(places, times, at) {
  return places[lastRow(places, at, (place) => times[place])] ?? -1;
}

// The same for a whole table that is in the order of time.
function lastRow(rows, at, read = (time) => time) {
  let low = 0, high = rows?.length ?? 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (read(rows[middle]) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// From `from` to `to`, without `to` itself; what lasts until the end of the history is there at the end as well.
function covers(table, index, at, end) {
  const to = table.to[index];
  return table.from[index] <= at && (to === null || at < to || (to >= end && at >= end));
}

// All words must be in it.
const matches = (text, words) => words.every((word) => text.includes(word));

const filterWords = () => page.filter.words.toLowerCase().split(/\s+/).filter(Boolean);

const isFiltered = () => Object.values(page.filter).some(Boolean);

function shownGroups() {
  const { severity, type, state } = page.filter, words = filterWords();
  return page.groups.filter((group) => (!severity || group.severity === severity) && (!type || group.type === type)
    && (!state || group.state === state) && matches(group.searched, words));
}

function addressOf(view) {
  if (view.name !== "group") return `#${view.name === "overview" ? "" : view.name}`;
  const marks = ["at", "from", "to", "rebalance"].filter((name) => view[name] !== null && view[name] !== undefined)
    .map((name) => `${name}=${isoText(view[name])}`);
  return `#group/${encodeURIComponent(view.group)}${marks.length ? `?${marks.join("&")}` : ""}`;
}

// Where a group is shown: here, or on its own page.
function groupAddress(id, view = {}) {
  return `${page.byId.get(id)?.page ?? ""}${addressOf({ ...view, name: "group", group: id })}`;
}

function viewOf(fragment) {
  const empty = { group: null, at: null, from: null, to: null, rebalance: null };
  const text = fragment.replace(/^#/, "");
  if (text.startsWith("group/")) {
    const [path, query = ""] = text.slice("group/".length).split("?"), marks = new URLSearchParams(query);
    const view = { ...empty, name: "group", group: decoded(path) };
    for (const name of ["at", "from", "to", "rebalance"]) view[name] = timeOf(marks.get(name));
    return view;
  }
  return { ...empty, name: ["findings", "cluster"].includes(text.split("/")[0]) ? text.split("/")[0] : "overview",
    part: text.split("/")[1] };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
