// Who owned each partition, and the members: the same number and colour for one member in all lanes.

const COLOURS = 8, PATTERNS = ["", "second", "third"], MOST_ROWS = 60, MOST_MEMBER_ROWS = 24, MOST_LABELS = 400;

// A row for each static id, else for each client on a host; two at once have two rows. Rows have the numbers M1, M2 …
function memberRows(detail) {
  if (detail.member_rows) return detail.member_rows;
  const { members } = detail, rows = [], ofKey = new Map(), ofMember = new Map();
  const order = Array.from({ length: members.size }, (_, index) => index)
    .sort((a, b) => members.from[a] - members.from[b]);
  for (const index of order) {
    const id = members.member[index], instance = members.instance?.[index] || null;
    const key = instance ? `static ${instance}` : JSON.stringify([members.client?.[index], members.host?.[index]]);
    const known = ofKey.get(key) ?? [];
    ofKey.set(key, known);
    let row = known.find((each) => each.end <= members.from[index]) ?? (instance ? known[0] : undefined);
    if (ofMember.has(id)) row = ofMember.get(id);
    if (!row) {
      row = { number: rows.length + 1, instance, client: members.client?.[index] ?? null, host: members.host?.[index]
        ?? null, stays: [], end: -Infinity };
      rows.push(row);
      known.push(row);
    }
    row.library = members.library?.[index] ?? row.library ?? null;
    row.host = members.host?.[index] ?? row.host;
    row.stays.push(index);
    row.end = Math.max(row.end, members.to[index] ?? Infinity);
    ofMember.set(id, row);
  }
  for (const id of detail.member_ids ?? []) {
    if (ofMember.has(id)) continue;
    const row = { number: rows.length + 1, instance: null, client: id, host: null, stays: [], end: -Infinity };
    rows.push(row);
    ofMember.set(id, row);
  }
  detail.row_of_member = ofMember;
  detail.row_of_index = (detail.member_ids ?? []).map((id) => ofMember.get(id));
  return (detail.member_rows = rows);
}

const memberRow = (detail, index) => (index === null || index < 0 ? null : memberRows(detail)
  && detail.row_of_index[index]);
// Standby and warm-up tasks restore state: they do not read for the group.
const isReader = (owners, index) => ["active", null].includes(owners.role?.[index] ?? null);
const memberClass = (row) => `m${(row.number - 1) % COLOURS}`;
const memberPattern = (row) => PATTERNS[Math.floor((row.number - 1) / COLOURS) % PATTERNS.length];
const memberName = (row) => row.instance ?? row.client ?? "unknown";

// As Kafka writes it in records: "/10.0.0.7".
const hostText = (host) => host?.replace(/^\//, "");

function memberText(row, most = 40) {
  return row ? `M${row.number} ${shortened(memberName(row), most)}` : "nobody";
}

function ownerLane(detail) {
  const count = detail.partitions.size, table = detail.owners, share = Math.ceil(count / MOST_ROWS) || 1;
  const size = share > 1 ? 6 / share : count <= 12 ? 16 : count <= 30 ? 12 : 8;
  memberRows(detail);
  return {
    key: "owners", title: "Owners of partitions", height: Math.max(count * size, 16), table, isTall: true,
    note: `${share > 1 ? `${counted(count, "partition")} in bands of ${share}`
      : "a row a partition"}; hatched: nobody reads, or no commit though messages wait; pale: perhaps; striped: stuck`,
    labels: ownerLabels(detail, count, size, share),
    draw(scale) {
      const layers = new Layers(), patterned = new Layers(), doubts = new Layers(), texts = [];
      for (let index = 0; index < table.size; index++) {
        const span = scale.span(table.from[index], table.to[index]), partition = table.partition[index];
        if (!span || partition < 0 || !isReader(table, index)) continue;
        const top = partition * size, height = Math.max(size - (size > 5 ? 1.5 : 0), 0.4);
        const row = memberRow(detail, table.member[index]), doubt = table.doubt_from?.[index] ?? null;
        if (doubt !== null) {
          const part = scale.span(row ? Math.max(doubt, table.from[index]) : doubt, row ? table.to[index]
            : table.from[index]);
          if (part && (row || doubt < table.from[index])) doubts.box("doubt", part[0], top, part[1], height);
        }
        if (!row) {
          if (table.to[index] === null || table.to[index] > table.from[index]) layers.box("nobody", span[0], top,
            Math.max(span[1], 2), height);
          const later = table.ends[index] > table.to[index] ? scale.span(table.to[index], table.ends[index]) : null;
          if (later) doubts.box("doubt", later[0], top, later[1], height);
          continue;
        }
        layers.box(memberClass(row), span[0], top, span[1], height);
        if (memberPattern(row) && size > 2) patterned.box(memberPattern(row), span[0], top, span[1], height);
        if (size >= 8 && span[1] > 26 && texts.length < MOST_LABELS)
          texts.push(label(Math.max(span[0], 0) + 3, top + size - (size > 12 ? 4.5 : 2.2),
            `M${row.number}${span[1] > 130 && size >= 12
            ? ` ${shortened(memberName(row), Math.floor(span[1] / 7) - 6)}`
              : ""}`, { class: `on-${memberClass(row)}${size < 10 ? " small" : ""}` }));
      }
      const silent = new Layers();
      for (let partition = 0; partition < count; partition++)
        silenceShapes(detail, scale, partition * size, Math.max(size - 1, 0.4), [partition], null, silent);
      if (!silent.paths.size) silenceShapes(detail, scale, 0, count * size, [-1], null, silent);
      return [layers.nodes().sort((a, b) => isTrouble(a) - isTrouble(b)), patterned.nodes(),
        stuckShapes(detail, scale, size), doubts.nodes(), silent.nodes(), texts];
    },
    rows: () => ["partition member view phase from:time to:time role ended_by certain_until:time doubt_from:time "
      + "offset:number", { ...table, partition: table.partition?.map((index) => partitionText(detail, index)),
        member: table.member?.map((index) => memberText(memberRow(detail, index))) }],
  };
}

const BAD = ["STOP", "STALL", "REWIND", "DOWN"];
const isBad = (detail, partition) => BAD.includes(detail.partitions.verdict?.[partition]);

// Partitions that are read but do not get on, from when that began.
function stuckShapes(detail, scale, size) {
  const layers = new Layers(), { partitions, stuck, of_partition: of } = detail;
  const known = (stuck.partition ?? []).map((index, row) => [index, stuck.from[row], stuck.to[row]]);
  const bad = (partitions.since ?? []).map((since, index) => [index, since, null])
    .filter(([index]) => isBad(detail, index) && !of.silence.has(index) && !of.silence.has(-1));
  for (const [index, from, to] of [...known, ...bad]) {
    const span = scale.span(from, to);
    if (!span) continue;
    layers.box("stuck", span[0], index * size, Math.max(span[1], 3), Math.max(size - 1, 0.4));
    layers.add("silence-edge", `M${span[0].toFixed(1)} ${index * size}v${size}`);
  }
  return layers.nodes();
}

function ownerLabels(detail, count, size, share) {
  const labels = [], step = share > 1 ? share * Math.ceil(12 / (share * size)) : size >= 11 ? 1 : 2;
  for (let index = 0; index < count; index += step) {
    const end = Math.min(index + step, count) - 1;
    labels.push({ y: index * size + Math.min(size * (share > 1 ? step : 1), 16) / 2 + 4, isBad: isBad(detail, index),
      text: partitionText(detail, index)
      + (share > 1 && end > index ? `…${detail.partitions.partition[end]}` : "") });
  }
  return labels;
}

function memberLane(detail) {
  const table = detail.members, all = memberRows(detail).filter((row) => row.stays.length), size = 16;
  const shown = detail.has_all_members ? all : all.slice(0, MOST_MEMBER_ROWS);
  return {
    key: "members", title: "Members", height: Math.max(shown.length * size, 16), table, isTall: true,
    note: `${counted(all.length, "member")}: name, host, library; ⚓ is a static member${shown.length < all.length
      ? `; ${all.length - shown.length} more` : ""}`,
    more: shown.length < all.length ? () => {
      detail.has_all_members = true;
      return memberLane(detail);
    } : null,
    labels: shown.map((row, place) =>
      ({ y: place * size + 12, text: `M${row.number} ${row.instance ? "⚓ " : ""}${memberName(row)}`,
      row, title: [memberName(row), hostText(row.host), row.library, row.instance ? "static" : null].filter(Boolean)
        .join(", ") })),
    draw(scale) {
      const layers = new Layers(), patterned = new Layers(), aways = new Layers(), texts = [];
      shown.forEach((row, place) => {
        const top = place * size;
        for (const index of row.stays) {
          const span = scale.span(table.from[index], table.to[index]);
          if (!span) continue;
          layers.box(memberClass(row), span[0], top, span[1], size - 2);
          if (memberPattern(row)) patterned.box(memberPattern(row), span[0], top, span[1], size - 2);
          const away = table.away?.[index];
          if (away !== null && away !== undefined) {
            const part = scale.span(away, table.to[index]);
            if (part) aways.box("doubt", part[0], top, part[1], size - 2);
          }
          if (texts.length >= MOST_LABELS) continue;
          const text = [shortened(hostText(row.host), 30), row.library].filter((each) => each && each !== "unknown")
            .join(", ");
          if (span[1] > text.length * 6.2 + 8) texts.push(label(Math.max(span[0], 0) + 4, top + 11, text,
            { class: `on-${memberClass(row)}` }));
          const end = table.to[index] !== null && scale.has(table.to[index])
            ? causeText(table.leave?.[index] ?? table.ended_by?.[index] ?? "") : "";
          if (end && !row.stays.some((other) => other !== index && table.from[other] >= table.to[index]
            && scale.x(table.from[other]) < scale.x(table.to[index]) + end.length * 6 + 10)
            && scale.x(table.to[index]) + end.length * 6 < scale.width) texts.push(label(scale.x(table.to[index]) + 4,
              top + 11, end, { class: "quiet-text" }));
        }
      });
      return [layers.nodes(), patterned.nodes(), aways.nodes(), texts];
    },
    rows: () => ["number member client host instance library from:time away:time to:time leave ended_by",
      { ...table, number: table.member?.map((id) => `M${detail.row_of_member.get(id).number}`) }],
  };
}
