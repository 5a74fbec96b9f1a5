// Lanes of a group: each draws one subject over the shown time. All of them share one axis and one cursor.

const NARROWEST = 1.2, LETTERS_OF_STATES = {
  Stable: "stable", Empty: "empty", PreparingRebalance: "rebalancing", CompletingRebalance: "rebalancing",
  Assigning: "rebalancing", Reconciling: "rebalancing", NotReady: "down", Dead: "empty", Deleted: "empty",
};
const stateClass = (state) => LETTERS_OF_STATES[state] ?? "unknown";
const EVENT_WORDS = { static_away: "static member away", static_restart: "static member restarted" };
const causeText = (word) => EVENT_WORDS[word] ?? String(word ?? "unknown").replaceAll("_", " ");

// Pixels of the plot, and what of a row is in it.
class Scale {
  constructor(from, to, width) {
    Object.assign(this, { from, to, width, factor: width / Math.max(to - from, 1) });
  }

  x(at) {
    return (at - this.from) * this.factor;
  }

  // Left and width of a row from `from` to `to`, cut to what is shown; null if none of it is. No end: it goes on.
  span(from, to) {
    const end = to === null || to === undefined ? this.to : to;
    if (from > this.to || end < this.from || from === null) return null;
    const left = Math.max(this.x(from), -2), right = Math.min(this.x(end), this.width + 2);
    return [left, Math.max(right - left, NARROWEST)];
  }

  has(at) {
    return at !== null && at >= this.from && at <= this.to;
  }
}

// Which partition that is: topic and number.
function partitionText(detail, index) {
  const { partitions } = detail;
  if (index < 0 || index >= partitions.size) return index < 0 ? "all" : `partition ${index}`;
  return `${partitions.topic[index]}-${partitions.partition[index]}`;
}

// Texts that do not lie on each other, and those that found no room.
function spreadTexts(items, y, width) {
  const nodes = [], left = [];
  let free = -Infinity;
  for (const item of items) {
    const size = item.text.length * 6.1 + 10, isRight = item.x + size > width + 10;
    const x = isRight ? Math.max(item.x - size - 10, 0) : item.x;
    if (x < free) left.push(item);
    else {
      nodes.push(label(x, y, item.text, {}));
      free = x + size;
    }
  }
  return { nodes, left };
}

function rebalanceLane(detail) {
  const table = detail.rebalances;
  return {
    key: "rebalances", title: "Rebalances", height: 44, table,
    note: `${counted(table.size, "rebalance")}; click one for its story`,
    draw(scale) {
      const layers = new Layers(), items = [];
      for (let index = 0; index < table.size; index++) {
        const span = scale.span(table.start[index], table.end[index] ?? table.start[index]);
        if (!span) continue;
        layers.box(`rebalance ${table.outcome[index] === "completed" ? "" : "unfinished"}`, span[0], 26,
          Math.max(span[1], 1.6), 17);
        items.push({ x: span[0], text: causeText(table.cause[index]) });
      }
      // Of many that are close together: how many, by cause.
      const dense = items.length > scale.width / 60 ? clustered(items) : items;
      const first = spreadTexts(dense, 11, scale.width), second = spreadTexts(first.left, 22, scale.width);
      return [layers.nodes(), second.left.length > dense.length / 3 ? spreadTexts(clustered(items), 22, scale.width)
        .nodes : [first.nodes, second.nodes]];
    },
    rows: (places) => ["time:time cause detail unread end:time moved:number returned:number unowned:number outcome "
      + "generation_before:number generation_after:number assignor verdict", { ...table, time: table.start,
      cause: table.cause.map(causeText), detail: table.sentence, unread: table.start.map((_, index) => (
        (table.unread_high?.[index] ?? null) === null ? null
          : boundsWords(table.unread_low[index], table.unread_high[index]))) },
      countsText(places.map((index) => causeText(table.cause[index])))],
  };
}

// Such as "2 member joined, 1 group created", the most frequent first.
function countsText(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([word, count]) => `${count} ${word}`).join(", ");
}

function clustered(items) {
  const result = [];
  for (const item of items) {
    const last = result.at(-1);
    if (last && item.x - last.x < 130) last.causes.set(item.text, (last.causes.get(item.text) ?? 0) + 1);
    else result.push({ x: item.x, causes: new Map([[item.text, 1]]) });
  }
  return result.map(({ x, causes }) => {
    const [[text, count]] = [...causes].sort((a, b) => b[1] - a[1]), all = [...causes.values()].reduce((a, b) => a + b);
    return { x, text: all === 1 ? text : all === count ? `${count} × ${text}`
      : `${all}${count > 1 ? `, most ${text}` : " rebalances"}` };
  });
}

function stateLane(detail) {
  const table = detail.states, isSilent = detail.of_partition.silence.has(-1);
  return {
    key: "states", title: "State", height: isSilent ? 42 : 22, table, note: "",
    draw(scale) {
      const layers = new Layers(), texts = [];
      for (let index = 0; index < table.size; index++) {
        const span = scale.span(table.from[index], table.to[index]);
        if (!span) continue;
        const name = stateClass(table.state[index]);
        layers.box(`state ${name}`, span[0], 1, span[1], 20);
        const text = span[1] > 190 && table.generation[index] !== null
          ? `${table.state[index]}, generation ${table.generation[index]}` : table.state[index];
        if (span[1] > text.length * 6.2 + 8) texts.push(label(Math.max(span[0], 0) + 5, 15, text,
          { class: `letter ${name}` }));
        else if (span[1] > 12) texts.push(label(span[0] + 3, 15, text[0], { class: `letter ${name}` }));
      }
      return [layers.nodes().sort((a, b) => isTrouble(a) - isTrouble(b)), texts.slice(0, 300),
        silenceShapes(detail, scale, 23, 18, [-1], (from) => `no commit since ${clockText(from)}, messages wait`)];
    },
    rows: () => ["from:time to:time state generation type assignor members:number "
      + "first_offset:number last_offset:number ended_by", table],
  };
}

// Where messages waited and nothing was heard: hatched from where it began.
function silenceShapes(detail, scale, top, height, partitions, words, layers = new Layers()) {
  const texts = [], { silence } = detail;
  for (const partition of partitions)
    for (const index of detail.of_partition.silence.get(partition) ?? []) {
      const span = scale.span(silence.from[index], silence.to[index]);
      if (!span) continue;
      layers.box("silence", span[0], top, Math.max(span[1], 3), height);
      layers.add("silence-edge", `M${span[0].toFixed(1)} ${top}v${height}`);
      if (!words) continue;
      const text = words(silence.from[index]), isInside = span[1] > text.length * 6 + 8;
      texts.push(label(isInside ? span[0] + 5 : Math.max(span[0] - 5, 60), top + height - 6, text,
        { class: "silence-text", "text-anchor": isInside ? null : "end" }));
    }
  return [layers.nodes(), texts];
}

// The highest, lowest and last of each pixel, so that a peak of one moment is seen in any zoom.
function pixels(scale, times, ...columns) {
  const result = [];
  let before = null;
  const first = Math.max(0, lastRow(times, scale.from));
  const last = Math.min(times.length - 1, lastRow(times, scale.to) + 1);
  for (let index = first; index <= last; index++) {
    const x = Math.round(scale.x(times[index]));
    const [low, high, value, most] = columns.map((each) => each?.[index] ?? null);
    if (before && before.x === x && value !== null && before.value !== null) {
      before.low = Math.min(before.low, low ?? value);
      before.high = Math.max(before.high, high ?? value);
      before.value = value;
      before.index = (most ?? value) >= before.most ? index : before.index;
      before.most = Math.max(before.most, most ?? value);
    } else result.push(before = { x, low: low ?? value, high: high ?? value, value, most: most ?? value ?? 0, index });
  }
  return result;
}

// Stretches without a gap.
function stretches(points) {
  const result = [[]];
  for (const point of points) {
    if (point.value === null) result.push([]);
    else result.at(-1).push(point);
  }
  return result.filter((each) => each.length);
}

function lagLane(detail, kind) {
  const table = detail.lag, isTime = kind === "seconds", { worst } = table;
  const columns = isTime ? [table.time_low, table.time_high, table.time_high]
    : [table.low, table.high, table.last, table.most];
  const say = isTime ? durationText : numberText;
  const unknown = table.unknown?.at(-1) ?? 0, all = detail.partitions.size;
  return {
    key: isTime ? "time_lag" : "lag", title: isTime ? "Lag in time" : "Lag in messages", height: isTime ? 54 : 84,
      table,
    note: isTime ? "between the lowest and the highest partition"
      : `line: sum; area: from the lowest to the highest partition${unknown
        ? `; ${unknown} of ${counted(all, "partition")} unknown` : ""}`,
    draw(scale, height) {
      const points = pixels(scale, table.at, ...columns), parts = stretches(points), bottom = height - 2;
      const inView = points.filter((point) => point.value !== null && point.x >= -1 && point.x <= scale.width + 1);
      if (!inView.length) return [label(6, height / 2 + 4, "unknown in this span of time: no end offsets",
        { class: "quiet-text" })];
      const most = Math.max(...inView.map((point) => Math.max(point.high, point.most)), isTime ? SECOND : 1);
      const y = (value) => bottom - (Math.max(value, 0) / most) * (bottom - 16), nodes = [];
      const area = parts.map((part) => `M${part.map((point) => `${point.x} ${y(point.high).toFixed(1)}`).join("L")}L${
        part.toReversed().map((point) => `${point.x} ${y(point.low).toFixed(1)}`).join("L")}z`).join("");
      nodes.push(shape("path", { class: "lag-area", d: area }));
      const line = parts.map((part) => `M${part.map((point) => `${point.x} ${y(point.most).toFixed(1)}${
        point.most === point.value ? "" : `L${point.x} ${y(point.value).toFixed(1)}`}`).join("L")}`).join("");
      nodes.push(shape("path", { class: isTime ? "lag-edge" : "lag-sum", d: line }));
      if (inView.length < 60) nodes.push(shape("path", { class: "lag-dots",
        d: inView.map((point) => `M${point.x - 2} ${y(point.value).toFixed(1)}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0`)
        .join("") }));
      nodes.push(...gapShapes(points, scale, height));
      const peak = inView.reduce((a, b) => (Math.max(b.most, b.high) > Math.max(a.most, a.high) ? b : a));
      const name = worst && worst[peak.index] !== null && worst[peak.index] >= 0
        ? partitionText(detail, worst[peak.index]) : null;
      const text = isTime ? `${say(peak.high)}${name ? `, worst ${shortened(name, 40)}` : ""}`
        : `${say(peak.most)}${name && all > 1 ? `, worst ${shortened(name, 40)} with ${say(peak.high)}` : ""}`;
      const isRight = peak.x > scale.width - text.length * 6.2;
      nodes.push(label(Math.min(Math.max(peak.x + (isRight ? -4 : 4), 4), scale.width - 4), 11, text,
        { class: "peak", "text-anchor": isRight ? "end" : null }));
      return [nodes, unknownText(inView, table, scale, height, all)];
    },
    axis: (scale) => {
      const points = pixels(scale, table.at, ...columns).filter((point) => point.value !== null);
      return points.length ? say(Math.max(...points.map((point) => Math.max(point.high, point.most)))) : "";
    },
    rows: () => ["at:time last:number low:number high:number unknown:number worst time_low:duration "
      + "time_high:duration",
        { ...table, worst: worst?.map((index) => (index === null ? null : partitionText(detail, index))) }],
  };
}

function gapShapes(points, scale, height) {
  const layers = new Layers(), texts = [];
  let left = null;
  points.forEach((point, index) => {
    if (point.value === null) left ??= index ? points[index - 1].x : Math.max(point.x, 0);
    const isLast = index === points.length - 1;
    if (left === null || (point.value === null && !isLast)) return;
    const right = point.value === null ? scale.width : point.x, begin = Math.max(left, 0);
    if (right > 0 && left < scale.width) layers.box("gap", begin, 2, Math.max(right - begin, 2), height - 4);
    if (right - begin > 60) texts.push(label(begin + 6, height / 2 + 4, "unknown", { class: "peak quiet-text" }));
    left = null;
  });
  return [...layers.nodes(), ...texts];
}

// A known part of the lag is drawn; how many partitions are unknown is written beside it.
function unknownText(points, table, scale, height, all) {
  const last = points.at(-1), unknown = table.unknown?.[last.index];
  return unknown ? label(scale.width - 4, height - 8, `${unknown} of ${all} partitions unknown here`,
    { class: "unknown-text", "text-anchor": "end" }) : null;
}

function commitLane(detail) {
  const table = detail.commits;
  const last = table.size ? table.at.reduce((a, b) => Math.max(a, b), -Infinity) : null;
  return {
    key: "commits", title: "Commits", height: 30, table,
    note: last === null ? "none" : `last ${shortMoment(last, page.about.as_of)}`,
    draw(scale, height) {
      const counts = new Map();
      for (let index = 0; index < table.size; index++) {
        if (!scale.has(table.at[index])) continue;
        const x = Math.round(scale.x(table.at[index]));
        counts.set(x, (counts.get(x) ?? 0) + (table.count?.[index] ?? 1));
      }
      const layers = new Layers();
      for (const [x, count] of counts) {
        const size = Math.min(height - 4, 9 + Math.log2(count) * 3);
        layers.box("commit", x, height - 1 - size, 1, size);
      }
      const nodes = [layers.nodes(), silenceShapes(detail, scale, 2, height - 4, [-1])];
      if (last !== null && scale.has(last) && scale.width - scale.x(last) > 150)
        nodes.push(label(scale.x(last) + 5, height - 8, `last commit ${clockText(last)}`, { class: "silence-text" }));
      return nodes;
    },
    rows: () => ["at:time partition offset:number count:number",
      { ...table, partition: table.partition?.map((index) => partitionText(detail, index)) }],
  };
}

function rateLane(detail) {
  const table = detail.rates;
  return {
    key: "rates", title: "Messages a second", height: 50, table, note: "area: read; dashed: written by producers",
    draw(scale, height) {
      const inView = [];
      for (let index = 0; index < table.size; index++)
        if (table.at[index] + (table.bucket?.[index] ?? 0) >= scale.from
          && table.at[index] <= scale.to) inView.push(index);
      if (!inView.length) return [label(6, height / 2 + 4, "no rate is known in this span of time",
        { class: "quiet-text" })];
      const most = inView.reduce((value, index) => Math.max(value, table.consumed[index] ?? 0, table.produced?.[index]
        ?? 0), 0.01);
      const y = (value) => height - 2 - (Math.max(value, 0) / most) * (height - 16), layers = new Layers();
      for (const index of inView) {
        const left = scale.x(table.at[index]), width = Math.max((table.bucket?.[index] ?? 0) * scale.factor, NARROWEST),
          read = table.consumed[index];
        if (read) layers.box("rate", left, y(read), width, height - 2 - y(read));
        const written = table.produced?.[index];
        if (written !== null && written !== undefined) layers.add("produced",
          `M${left.toFixed(1)} ${y(written).toFixed(1)}h${width.toFixed(1)}`);
      }
      return [silenceShapes(detail, scale, 14, height - 16, [-1]), layers.nodes(),
        label(4, 11, `most ${numberText(most)} a second`, { class: "peak" })];
    },
    rows: () => ["at:time bucket:duration consumed:number produced:number", table],
  };
}

function resetLane(detail) {
  const table = detail.resets;
  return {
    key: "resets", title: "Offsets reset", height: 24, table, note: "",
    draw(scale) {
      const items = [], nodes = [];
      for (let index = 0; index < table.size; index++) {
        if (!scale.has(table.at[index])) continue;
        nodes.push(markShape("reset", scale.x(table.at[index]), 12));
        items.push({ x: scale.x(table.at[index]) + 7, text: resetText(table, index) });
      }
      return [nodes.slice(0, 500), spreadTexts(items, 16, scale.width).nodes];
    },
    rows: () => ["at:time kind topic partitions change actor reread:number skipped:number confidence offset:number",
      table],
  };
}

function resetText(table, index) {
  const counts = [["reread", "read again"], ["skipped", "skipped"]].filter(([name]) => table[name]?.[index])
    .map(([name, words]) => `${numberText(table[name][index])} ${words}`);
  return [causeText(table.kind[index]), table.change?.[index], ...counts].filter(Boolean).join(", ");
}

function markLane(group) {
  const marks = page.marks.filter((mark) => (mark.group === group.id || mark.group === null) && mark.kind !== "reset");
  return {
    key: "marks", title: "Marks", height: 24, table: { size: marks.length, at: marks.map((each) => each.at) }, note: "",
    draw: (scale) => {
      const shown = marks.filter((mark) => scale.has(mark.at)).sort((a, b) => a.at - b.at);
      return [shown.slice(0, 500).map((mark) => shape("g", null, shape("title", null, markText(mark)),
        markShape(mark.kind, scale.x(mark.at), 12))),
        spreadTexts(shown.map((mark) =>
          ({ x: scale.x(mark.at) + 8, text: shortened(markText(mark), 44) })), 16, scale.width)
          .nodes];
    },
    rows: () => ["at:time kind text", { at: marks.map((each) => each.at), kind: marks.map((each) => each.kind),
      text: marks.map((each) => each.text) }],
  };
}

const markText = ({ kind, text }) => (text?.includes(kind) ? text : `${kind}: ${text ?? ""}`);
