// Facts of a group at the moment of the cursor; each number is exact, or lies between two bounds.

const MOST_IN_PANEL = 12;
const panel = { cells: [], isWhole: false };

function buildPanel(detail) {
  panel.time = element("strong", { class: "panel-time" });
  panel.ago = element("span", { class: "quiet" });
  const names = ["State", "Members", "Lag", "Lag in time", "Catches up", "Last change", "Next change"];
  panel.facts = Object.fromEntries(names.map((name) => [name, element("dd")]));
  // On a narrow screen only the first line is open.
  panel.brief = element("span", { class: "brief" });
  panel.fold = button("more", () => {
    const isOpen = panel.node.classList.toggle("is-open");
    panel.fold.setAttribute("aria-expanded", String(isOpen));
    setText(panel.fold, isOpen ? "less" : "more");
  }, { class: "plain fold-panel", "aria-expanded": "false" });
  panel.story = button("Story of this rebalance", () => openStory(panel.rebalance), { class: "plain" });
  panel.words = element("p", { class: "quiet" });
  panel.rows = element("tbody");
  panel.order = Array.from({ length: detail.partitions.size }, (_, index) => index)
    .sort((a, b) => (detail.partitions.lag?.[b] ?? -1) - (detail.partitions.lag?.[a] ?? -1) || a - b);
  if (panel.order.length <= MOST_IN_PANEL) panel.order.sort((a, b) => a - b);
  const shown = panel.isWhole ? panel.order : panel.order.slice(0, MOST_IN_PANEL);
  panel.cells = shown.map((partition) => {
    const cells = ["name", "owner", "number", "number"].map((name) => element(name === "name" ? "th" : "td",
      { class: name, scope: name === "name" ? "row" : null }));
    cells[0].append(named(partitionText(detail, partition), 24));
    const row = element("tr", null, cells), reading = element("span", { class: "quiet" }), owner = element("span");
    cells[1].append(owner, element("br"), reading);
    panel.rows.append(row);
    return { partition, row, owner, reading, offset: cells[2], lag: cells[3] };
  });
  panel.node = element("aside", { class: "panel", "aria-label": "Facts at the cursor" },
    element("p", { class: "panel-head" }, panel.time, panel.ago, panel.fold, panel.brief),
    element("p", { class: "steps" }, button("←", () => stepEvent(-1), { "aria-label": "Event before (arrow left)" }),
      button("→", () => stepEvent(1), { "aria-label": "Event after (arrow right)" }), panel.story),
    element("dl", null, Object.entries(panel.facts)
      .map(([name, node]) => element("div", null, element("dt", null, name), node))),
    shown.length ? [element("table", null,
      element("thead", null, element("tr", null, ["partition", "owner", "offset", "lag"].map((name, place) =>
      element("th", { scope: "col", class: place > 1 ? "number" : null }, name)))), panel.rows), panel.words] : "",
    panel.order.length > shown.length ? button(`All ${panel.order.length} partitions`, () => {
      panel.isWhole = true;
      const before = panel.node;
      buildPanel(detail);
      before.replaceWith(panel.node);
      fillPanel(shownGroup.cursor);
    }, { class: "plain" }) : "");
  return panel.node;
}

function fillPanel(at) {
  const { detail } = shownGroup, facts = factsAt(detail, at, panel.cells.map(({ partition }) => partition));
  setText(panel.time, `${momentText(at, at % SECOND ? 1 : SECOND)} ${zone.name}`);
  const end = page.about.as_of ?? detail.to;
  setText(panel.ago, at >= end ? " the end" : ` ${durationText(end - at)} before the end`);
  for (const [name, text] of Object.entries(facts.texts)) setText(panel.facts[name], text);
  setText(panel.brief, `${facts.texts.State.split(",")[0]}; lag ${facts.texts.Lag}`);
  panel.rebalance = facts.rebalance;
  panel.story.hidden = facts.rebalance < 0;
  if (facts.rebalance >= 0) setText(panel.story,
    `Story of the rebalance of ${shortMoment(detail.rebalances.start[facts.rebalance], at)}`);
  facts.partitions.forEach((fact, place) => {
    const cells = panel.cells[place];
    setText(cells.owner, fact.owner);
    setText(cells.reading, fact.reading);
    setText(cells.offset, fact.offset);
    setText(cells.lag, fact.lag);
    cells.lag.title = fact.whyUnknown ?? "";
    cells.row.className = fact.look;
  });
  setText(panel.words, facts.words);
}

// All that is known of that moment; the panel, the slider's text and the tests read it.
function factsAt(detail, at, partitions) {
  const { states, events } = detail, texts = {}, state = lastRow(states.from, at);
  const isDeleted = state >= 0 && states.ended_by?.[state] === "deleted" && at >= states.to[state];
  const isState = state >= 0 && !isDeleted && covers(states, state, at, detail.to);
  const deleted = isDeleted ? `deleted at ${shortMoment(states.to[state], at)}` : null;
  texts.State = deleted ?? (!isState ? (states.size ? "the group did not exist, or nothing is known" : "unknown")
    : [states.state[state], states.generation[state] === null ? null : `generation ${states.generation[state]}`,
      states.assignor?.[state]].filter(Boolean).join(", ") + `, since ${shortMoment(states.from[state], at)}`);
  const silence = silenceAt(detail, -1, at), isThere = (_, index) => covers(detail.members, index, at, detail.to);
  if (silence !== null && !deleted)
    texts.State += `; no commit since ${shortMoment(silence, at)}, though messages wait`;
  texts.Members = deleted ? "none" : isState && states.members && states.members[state] !== null
    ? numberText(states.members[state]) : String(detail.members.from?.filter(isThere).length ?? 0);
  const lag = groupLagAt(detail, at);
  texts.Lag = deleted && lag.isKnown ? `none; the last was ${lag.text}` : lag.text;
  texts["Lag in time"] = deleted ?? lag.time;
  texts["Catches up"] = deleted ?? (texts.Members === "0" && detail.members.size && detail.lag.last?.[lastRow(
    detail.lag.at, at)] ? "not without members" : catchUpText(detail, at));
  const last = lastRow(events.at, at);
  texts["Last change"] = last < 0 ? "none before" : `${shortMoment(events.at[last], at)}: ${events.text[last]}`;
  texts["Next change"] = last + 1 < events.size
    ? `in ${durationText(events.at[last + 1] - at)}: ${shortened(events.text[last + 1], 100)}` : "none after";
  const rows = partitions.map((partition) => partitionFacts(detail, partition, at, deleted));
  return { texts, rebalance: lastRow(detail.rebalances.start, at), partitions: rows,
    words: deleted ? `The group is ${deleted}: offsets and lags are the last ones before that`
      : [detail.commits.size ? `Offsets are ${rows.every((row) => row.isOffsetExact) ? "exact"
        : "exact, or between two of several commits"}` : "", lag.words].filter(Boolean).join(". ") };
}

function silenceAt(detail, partition, at) {
  const index = detail.of_partition.silence.get(partition)?.find((each) => covers(detail.silence, each, at, detail.to));
  return index === undefined ? null : detail.silence.from[index];
}

function groupLagAt(detail, at) {
  const { lag } = detail, index = lastRow(lag.since ?? lag.at, at);
  const why = detail.commits.size ? "end offsets" : "commit";
  if (!lag.size) return { text: `unknown: no ${why}`, time: "unknown", words: "" };
  if (index < 0) return { text: "unknown before the first snapshot", time: "unknown", words: "" };
  const taken = lag.at[index], isKnown = lag.last[index] !== null, unknown = lag.unknown?.[index] ?? 0,
    worst = lag.worst?.[index], exact = isPoint(lag, index, at);
  const value = exact ? numberText(lag.last[index]) + (at > taken ? `, ${durationText(at - taken)} old` : "")
    : `between ${numberText(lag.least[index])} and ${numberText(lag.most[index])} (${shortMoment(lag.since[index],
      at)} to ${shortMoment(taken, at)})`;
  const more = [worst >= 0 && lag.high?.[index] && detail.partitions.size > 1 ? `worst ${partitionText(detail, worst)}`
    : null,
    unknown ? `${unknown} of ${counted(detail.partitions.size, "partition")} unknown` : null].filter(Boolean);
  const [timeLow, timeHigh] = [lag.time_low?.[index], lag.time_high?.[index]];
  return {
    isKnown, text: !isKnown ? `unknown at ${shortMoment(taken, at)}` : [value, ...more].join(", "),
    time: timeHigh === null || timeHigh === undefined ? "unknown" : boundsWords(timeLow, timeHigh),
    words: detail.partition_lag.size ? exact ? `Lag was exact at the snapshot of ${shortMoment(taken, at)}`
      : `Lag is between the lowest and the highest of ${counted(lag.points[index], "snapshot")}`
      : "Lag of single partitions is kept for groups with findings",
  };
}

// By two snapshots, a minute apart or the next ones: what was read and written between them, of the same partitions.
function catchUpText(detail, at) {
  const { lag, partition_lag: single, commits, of_partition: of } = detail, last = lastRow(lag.at, at);
  const waiting = lag.last?.[last] ?? null, unknown = (index) => lag.unknown?.[index] ?? 0;
  if (!waiting) return waiting === 0 ? "nothing waits" : "unknown";
  let first = last, read = 0, grown = 0, known = 0;
  for (let index = last - 1; index >= 0 && (first === last || lag.at[last] - lag.at[index] <= MINUTE); index--)
    if (lag.last[index] !== null && unknown(index) === unknown(last)) first = index;
  if (first === last) return "unknown: it needs two snapshots of the same partitions";
  const [from, to] = [lag.at[first], lag.at[last]], seconds = (to - from) / SECOND;
  const span = `${shortMoment(from, at)} to ${shortMoment(to, at)}`;
  for (const [partition, places] of of.lag) {
    const ends = [from, to].map((time) => lastUntil(places, single.at, time));
    const offsets = [from, to].map((time) => lastUntil(of.commits.get(partition) ?? [], commits.at, time));
    if (ends.some((place, index) => place < 0 || single.at[place] !== [from, to][index]
      || single.last[place] === null) || offsets[0] < 0) continue;
    read += commits.offset[offsets[1]] - commits.offset[offsets[0]];
    grown += single.last[ends[1]] - single.last[ends[0]];
    known += 1;
  }
  // Without the lag of each partition only what became of their sum is known.
  const isWhole = known === detail.partitions.size - unknown(last), written = read + grown;
  if (!isWhole) grown = lag.last[last] - lag.last[first];
  const says = `${isWhole ? `${numberText(read / seconds)} read, ${numberText(written / seconds)} written a second`
    : `${numberText(Math.abs(grown))} ${grown < 0 ? "fewer" : "more"} waited`}, ${span}`;
  if (!isWhole && !grown) return `as many waited as before, ${span}`;
  if (isWhole && (read < 0 || written < 0)) return `unknown: offsets went back, ${span}`;
  if (isWhole && read > 0.9 * written && waiting < 5 * (written / seconds)) return `keeps up: ${says}`;
  return grown < 0 ? `in about ${durationText((waiting / -grown) * (to - from))}, if it goes on so: ${says}`
    : `not so: ${says}`;
}

// Whether a row says what was at that time: alone, or as the last of those that were put together.
function isPoint(table, index, at) {
  return !table.points || table.points[index] === 1 || at >= table.at[index];
}

function partitionFacts(detail, partition, at, deleted) {
  const { owners, of_partition: of, commits, partition_lag: lag, partitions } = detail;
  const holding = (of.target.get(partition) ?? []).filter((index) => covers(owners, index, at, detail.to));
  const silent = silenceAt(detail, partition, at) ?? silenceAt(detail, -1, at), last = deleted ? "last " : "";
  const stuck = stuckText(detail, partition, at), places = of.lag.get(partition) ?? [];
  const offset = lastUntil(of.commits.get(partition) ?? [], commits.since ?? commits.at, at);
  const lags = lastUntil(places, lag.since ?? lag.at, at), isEnd = at >= detail.lag.at?.at(-1);
  const owner = holding.map((index) => memberText(memberRow(detail, owners.member[index]), 22)).join(", ") || "nobody";
  // Several share a partition: who of them read is not known.
  const reading = deleted || holding.length > 1 ? "" : readingText(detail, partition, holding[0] ?? -1, at);
  const isRemoved = (detail.removed.partition ?? []).some((each, index) => each === partition
    && covers(detail.removed, index, at, detail.to));
  const known = isRemoved ? null : lags >= 0 ? lag.last[lags] : isEnd ? partitions.lag?.[partition] ?? null : null;
  const isUnread = silent !== null || stuck || owner === "nobody" || reading.startsWith("nobody");
  return {
    topic: partitions.topic[partition], partition: partitions.partition[partition], owner,
    look: isUnread && !deleted ? "is-silent" : "",
    reading: [reading && holding.length ? `reading: ${reading}` : reading,
      deleted ? "" : silent !== null ? `no commit since ${shortMoment(silent, at)}` : stuck].filter(Boolean).join("; "),
    offset: isRemoved ? "removed" : offset < 0 ? "" : last + boundsText(commits, offset, at, commits.offset[offset]),
    lag: known === null ? "?" : last + (lags < 0 ? numberText(known) : boundsText(lag, lags, at, known)),
    whyUnknown: known !== null ? null : isRemoved ? "its offset was removed" : (isEnd
      && partitions.unknown_reason?.[partition] && causeText(partitions.unknown_reason[partition]))
      || (!detail.lag.size ? groupLagAt(detail, at).text : places.length ? "not measured by then"
        : "The lag of each partition is kept for groups with findings."),
    isOffsetExact: offset < 0 || isPoint(commits, offset, at), isLagExact: lags < 0 || isPoint(lag, lags, at),
  };
}

function stuckText({ partitions, stuck }, partition, at) {
  const row = stuck.partition?.findIndex((each, index) => each === partition && stuck.from[index] <= at
    && at <= stuck.to[index]) ?? -1;
  const since = row < 0 ? partitions.since?.[partition] ?? null : stuck.from[row];
  return (row >= 0 || BAD.includes(partitions.verdict?.[partition])) && since !== null && at >= since
    ? `no progress since ${shortMoment(since, at)}` : "";
}

// The other view of an owner, in the words of `groupscope owner`. `owner`: its row, -1 if the partition has none.
function readingText(detail, partition, owner, at) {
  const { owners, of_partition: of } = detail, { from, to, ends } = owners, doubts = owners.doubt_from ?? [];
  const clock = (time) => (dayOf(time) === dayOf(at) ? clockText(time, time % SECOND || SECOND) : momentText(time, 1));
  // From perhaps the begin until the next owner has got it; of several the one in which surely nobody reads.
  const around = (of.unread.get(partition) ?? []).filter((index) => (doubts[index] ?? from[index]) <= at
    && at < ends[index]);
  const span = around.find((index) => from[index] <= at && at < to[index]) ?? around[0] ?? -1;
  const first = span < 0 ? null : doubts[span] ?? from[span];
  const nobody = span < 0 ? "" : `nobody from ${clock(from[span])}${first < from[span] ? `, perhaps from ${
    clock(first)},` : ""} to ${clock(to[span])}`;
  if (owner < 0) {
    const next = (of.target.get(partition) ?? []).find((index) => from[index] > at);
    return nobody || (next === undefined ? "" : `the next one from ${clock(from[next])}`);
  }
  if (span >= 0 && to[span] <= at) return `nobody until it has got the partition, by ${clock(ends[span])}`;
  const until = owners.certain_until?.[owner] ?? null, isProved = until !== null && until >= from[owner];
  if (isProved && at <= until) return `certain until ${clock(until)}, likely after`;
  if (span >= 0 && from[span] <= at) return nobody;
  if (owners.phase?.[owner] === "held") return "nobody while it is away";
  const doubt = doubts[owner] ?? first;
  if (doubt !== null && doubt <= at) return `possible since ${clock(doubt)}${span < 0 ? ""
    : `, nobody from ${clock(from[span])}`}`;
  return isProved ? `likely since ${clock(until)}` : "likely";
}

function boundsText(table, index, at, value) {
  const low = table.low?.[index] ?? value, high = table.high?.[index] ?? value;
  return isPoint(table, index, at) || low === high ? numberText(value) : `${numberText(low)} to ${numberText(high)}`;
}
