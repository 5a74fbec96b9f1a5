// The view of one group: its facts, lanes under one axis, the cursor, the zoom, and what happened.

const shownGroup = { id: null, group: null, detail: null, from: 0, to: 1, cursor: 0, pinned: null, lanes: [] };
const SHORTEST_ZOOM = 100, AXIS_HEIGHT = 22, SHOWN_EVENTS = 40;

async function showGroup(view) {
  const group = page.byId.get(view.group);
  if (!group) return showUnknownGroup(view.group);
  if (group.page) {
    const address = groupAddress(group.id, view);
    frame.main.replaceChildren(element("p", null, element("a", { href: address }, "The group is on another page.")));
    return location.replace(address);
  }
  frame.main.replaceChildren(element("h1", null, named(group.id, 80)), element("p", { class: "quiet" }, "…"));
  let detail = null;
  try {
    detail = await detailOf(group.id);
  } catch (error) {
    frame.main.append(element("p", { class: "notice" }, `The data of this group cannot be read: ${error.message}`));
    return;
  }
  if (page.view.group !== view.group) return;
  const findings = page.findings.filter((finding) => finding.group === group.id);
  if (!detail || detail.from === null || detail.from === undefined) {
    frame.main.replaceChildren(...groupHead(group), findingList(findings), element("p", { class: "notice" },
      "Nothing of this group can be drawn: the warehouse has no history of it. "
      + "`groupscope audit` of its log brings it."));
    return;
  }
  Object.assign(shownGroup, { id: group.id, group, detail });
  panel.isWhole = false;
  takeZoom(view);
  const lanes = element("div", { class: "lanes" });
  shownGroup.node = lanes;
  frame.main.replaceChildren(...groupHead(group), findingList(findings), zoomBar(detail, findings),
    element("div", { class: "group-view" }, lanes, buildPanel(detail)), eventSection(detail));
  buildLanes();
  setCursor(shownGroup.pinned ?? shownGroup.to, false);
  if (view.rebalance !== null) openStory(rebalanceAt(detail, view.rebalance), true);
}

const rebalanceAt = (detail, start) => detail.rebalances.start?.indexOf(start) ?? -1;

function showUnknownGroup(name) {
  const words = name.toLowerCase().slice(0, 4), near = page.groups.filter((group) => group.id.toLowerCase()
    .includes(words)).slice(0, 5);
  frame.main.replaceChildren(element("h1", null, "No such group"), element("p", null, "This report has no group ",
    element("b", null, named(name, 120)), "."),
    near.length ? element("p", null, "Perhaps: ",
      near.map((group, index) => [index ? ", " : "", element("a", { href: groupAddress(group.id) }, named(group.id))]))
      : "",
    element("p", null, page.about.choice ? `The report was made for a choice of groups: ${page.about.choice}. ` : "",
      element("a", { href: "#" }, `All ${counted(page.groups.length, "group")}`)));
}

function groupHead(group) {
  const { verdict, topics = [], reason, since } = group, facts = {
    Verdict: verdict, Type: group.type, State: group.state, Assignor: group.assignor, Members: group.members,
    Lag: lagWords(group), Rebalances: numberText(group.rebalances),
    "Longest unread": !group.unread ? "none known"
      : (group.unread_lasts ? "at least " : "") + durationText(group.unread),
    Topics: topics.slice(0, 3).map((topic) => shortened(topic, 40)).join(", ")
      + (topics.length > 3 ? ` and ${topics.length - 3} more` : ""),
  };
  const whole = Array.from(group.id).length > 60 && folded("The whole name", () =>
    element("p", { class: "name" }, group.id));
  // Findings say it better.
  const sentence = reason && verdict !== "OK" && group.severity === "none" && element("p", { class: "sentence" },
    since ? `Since ${shortMoment(since, page.about.as_of)}: ` : "", reason);
  const shown = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return [element("h1", { class: "group-name" }, sign(group.severity), " ", named(group.id, 60)), whole, sentence,
    element("dl", { class: "facts" }, shown.map(([name, value]) => element("div", null, element("dt", null, name),
      element("dd", { class: name === "Verdict" ? `verdict-${verdict}` : null }, String(value)))))].filter(Boolean);
}

function lagWords({ lag, time_lag: time, worst, lag_unknown: unknown }) {
  if (lag === null || lag === undefined) return "unknown";
  return [numberText(lag), time === null ? null : durationText(time), worst && lag ? `worst ${shortened(worst, 30)}`
    : null,
    unknown ? `${counted(unknown, "partition")} unknown` : null].filter(Boolean).join(", ");
}

function findingList(findings) {
  return element("div", { class: "findings of-group" }, findings.slice(0, 4)
    .map((finding) => findingView(finding, false)),
    findings.length > 4 ? folded(`${findings.length - 4} more findings of this group`, () => findings.slice(4)
      .map((finding) => findingView(finding, false)), { class: "more" }) : "");
}

function takeZoom({ from, to, at }) {
  const { detail } = shownGroup, isSpan = from !== null && to !== null && to - from >= SHORTEST_ZOOM;
  const isZoom = isSpan && from < detail.to && to > detail.from;
  shownGroup.from = isZoom ? Math.max(from, detail.from) : detail.from;
  shownGroup.to = isZoom ? Math.min(to, detail.to) : detail.to;
  shownGroup.pinned = at === null ? null : Math.min(Math.max(at, detail.from), detail.to);
}

function zoomBar(detail, findings) {
  const spans = [["Whole", detail.from, detail.to]];
  for (const [name, size] of [["Last day", DAY], ["Last hour", HOUR], ["Last 10 min", 10 * MINUTE]])
    if (detail.to - detail.from > size * 1.2) spans.push([name, detail.to - size, detail.to]);
  const times = findings.map((each) => each.since ?? each.at).filter((at) => at && at >= detail.from
    && at <= detail.to);
  if (times.length) {
    const first = times[0], room = Math.max((detail.to - first) * 0.25, MINUTE);
    spans.push(["Around the worst finding", first - room, Math.min(detail.to, first + 4 * room)]);
  }
  shownGroup.span = element("span", { class: "span" });
  return element("div", { class: "zoom", role: "group", "aria-label": "Shown span of time" }, shownGroup.span,
    spans.map(([name, from, to]) => button(name, () => zoomTo(from, to))),
      button("−", () => zoomBy(2), { "aria-label": "Zoom out (key -)" }),
    button("+", () => zoomBy(0.5), { "aria-label": "Zoom in (key +)" }), element("span", { class: "quiet hint" },
      "drag: zoom · double click: whole · ← →: events"));
}

function buildLanes() {
  const { detail, group, node } = shownGroup;
  const lanes = [["rebalances", rebalanceLane], ["states", stateLane], ["owners", ownerLane], ["members", memberLane],
    ["lag", (each) => lagLane(each, "messages")],
      ["lag", (each) => (each.lag.time_high?.some((value) => value !== null) ? lagLane(each, "seconds") : null)],
    ["commits", commitLane], ["rates", rateLane], ["resets", resetLane]];
  shownGroup.lanes = lanes.filter(([name]) => detail[name].size).map(([, make]) => make(detail)).filter(Boolean);
  const marks = markLane(group);
  if (marks.table.size) shownGroup.lanes.push(marks);
  const absent = ABSENT.filter(([name]) => !detail[name].size && (name !== "lag" || detail.commits.size));
  shownGroup.axes = [axisNode(true), axisNode(false)];
  shownGroup.line = element("div", { class: "cursor" });
  shownGroup.brush = element("div", { class: "brush", hidden: true });
  node.replaceChildren(shownGroup.axes[0].node, ...shownGroup.lanes.map(laneNode), shownGroup.axes[1].node,
    ...absent.map(([, words]) => element("p", { class: "absent quiet" }, words)), shownGroup.line, shownGroup.brush);
  shownGroup.sized?.disconnect();
  shownGroup.sized = new ResizeObserver(() => {
    if (node.isConnected && shownGroup.detail && plotWidth() !== shownGroup.width) drawLanes();
  });
  shownGroup.sized.observe(node);
  listenToLanes(node);
  drawLanes();
}

// What a lane that is not there would show, and what brings it.
const ABSENT = [["states", "No state is known: the records of the group itself are not in the captured log."],
  ["rebalances", "No rebalance of this group is in the log."],
  ["owners", "No owner of a partition is known: the group's members assigned none, or it commits without members."],
  ["members", "No members: the group only commits offsets, or its members are not in the captured log."],
  ["lag", "No lag: it needs end offsets. One line takes them: "
    + "groupscope capture --source kafka:HOST:9092 --every 60 --for 3600. "
    + "Then run the audit with --snapshots."],
  ["commits", "No commit of this group is in the captured log."],
  ["rates", "No rate of messages read: it needs two commits or more."],
  ["resets", "No reset of this group's offsets is in the log."],
];

function axisNode(isTop) {
  const plot = element("div", { class: "plot" });
  const name = element("div", { class: "lane-name axis-zone quiet" });
  const node = element("div", { class: `lane axis-lane${isTop ? " is-top" : ""}` }, name, plot);
  if (isTop) {
    shownGroup.slider = element("div", { class: "handle", role: "slider", tabindex: "0",
      "aria-label": "Moment of the cursor" });
    plot.append(shownGroup.slider);
  }
  return { node, plot, name };
}

function laneNode(lane) {
  lane.plot = element("div", { class: "plot" });
  lane.names = element("div", { class: "row-names" });
  lane.most = element("span", { class: "lane-most quiet" });
  lane.listing = element("div", { class: "lane-rows", hidden: true });
  lane.opener = button("rows", () => toggleRows(lane), { class: "opener", "aria-expanded": "false",
    "aria-label": `Rows and SQL of ${lane.title}` });
  const head = [element("h2", null, lane.title), lane.opener, element("span", { class: "lane-note quiet" }, lane.note),
    lane.more ? button("show all", () => {
      const made = lane.more(), place = shownGroup.lanes.indexOf(lane), before = lane.node;
      shownGroup.lanes[place] = made;
      before.replaceWith(laneNode(made));
      drawLanes();
    }, { class: "plain" }) : "", lane.most];
  return (lane.node = element("section", { class: `lane ${lane.key}${lane.isTall ? " is-tall" : ""}`,
    "aria-label": lane.title },
    element("div", { class: "lane-name" }, head), lane.isTall ? lane.names : "", lane.plot, lane.listing));
}

const plotWidth = () => Math.max(Math.floor(shownGroup.axes[0].plot.clientWidth), 80);

function drawLanes() {
  const { from, to, lanes, detail, axes } = shownGroup, width = shownGroup.width = plotWidth(),
    scale = shownGroup.scale = new Scale(from, to, width);
  const ticks = timeTicks(from, to, width, width < 500 ? 74 : 104);
  const day = dayOf(from) === dayOf(to) ? weekdayText(from) : `${dateText(from)} – ${dateText(to)}`;
  for (const { plot, name } of axes) {
    setText(name, `${day}, ${zone.name}`);
    plot.querySelector("svg")?.remove();
    plot.prepend(shape("svg", { width, height: AXIS_HEIGHT, role: "img",
      "aria-label": `Time from ${momentText(from)} to ${momentText(to)} ${zone.name}` },
      ticks.map(({ at, text, isNewDay }) => [shape("path", { class: "tick", d: `M${scale.x(at).toFixed(1)} 15v7` }),
        label(Math.min(Math.max(scale.x(at), text.length * 3), width - text.length * 3), 12, text,
          { class: isNewDay ? "tick-text new-day" : "tick-text", "text-anchor": "middle" })])));
  }
  const grid = ticks.map(({ at }) => `M${scale.x(at).toFixed(1)} 0v2000`).join("");
  for (const lane of lanes) {
    const height = lane.height;
    lane.plot.replaceChildren(shape("svg",
      { width, height, role: "img", "aria-label": `${lane.title} from ${momentText(from)} to ${momentText(to)}${
      lane.note ? `: ${lane.note}` : ""}` }, shape("path", { class: "grid", d: grid }), lane.draw(scale, height)));
    if (lane.labels) lane.names.replaceChildren(...laneLabels(lane));
    if (lane.axis) setText(lane.most, lane.axis(scale) && `most ${lane.axis(scale)}`);
    if (!lane.listing.hidden) fillRows(lane);
  }
  setText(shownGroup.span, `${momentText(from, to - from < MINUTE ? 1 : SECOND)} – ${dayOf(from) === dayOf(to)
    ? clockText(to, to - from < MINUTE ? 1 : SECOND)
    : momentText(to)} ${zone.name}, ${durationText(to - from)}`);
  if (detail.events.size) fillEvents(detail);
  placeCursor();
}

function laneLabels(lane) {
  return lane.labels.map(({ y, text, title, row, isBad: bad }) => {
    const node = element("div", { class: `row-name${bad ? " is-bad" : ""}`, title: title ?? text }, row
      ? element("span", { class: `dot ${memberClass(row)}`, "aria-hidden": "true" }) : "", shortened(text, 26));
    node.style.top = `${y - 12}px`;
    return node;
  });
}

function toggleRows(lane) {
  lane.listing.hidden = !lane.listing.hidden;
  lane.opener.setAttribute("aria-expanded", String(!lane.listing.hidden));
  if (!lane.listing.hidden) fillRows(lane);
  placeCursor();
}

// Rows of the shown span of time: the picture is always beside them.
function fillRows(lane) {
  const { from, to } = shownGroup, places = [], { table } = lane;
  const begins = table.from ?? table.start ?? table.at, ends = table.to ?? table.end;
  for (let index = 0; index < begins.length; index++)
    if (begins[index] <= to && (ends ? ends[index] ?? Infinity : begins[index]) >= from) places.push(index);
  const [declared, columns, counts] = lane.rows(places);
  // Each with its kind: "at:time topic".
  const shown = declared.split(" ").map((each) => each.split(":"))
    .filter(([name]) => columns[name]?.some((value) => value !== null));
  const statement = statementOf(lane.key);
  lane.listing.replaceChildren(element("p", { class: "quiet" }, `${counted(places.length, "row")} of the shown span${
    counts ? `: ${counts}` : ""}`),
    tableView(shown.map(([name]) => name), shown.map(([, kind]) => kind ?? "text"), columns, `Rows of ${lane.title}`,
      places),
    statement ? code(statement, `SQL of ${lane.title}`) : "");
}

// The document has the SQL of a lane once for all groups, about one called NAME.
function statementOf(lane) {
  const name = { time_lag: "lag", rates: "commits" }[lane] ?? lane;
  return page.document.statements?.[name]?.replaceAll("'NAME'",
    () => page.details.get(shownGroup.id)?.quoted ?? "NULL");
}

// The moment under the cursor. A pinned one is in the address.
function setCursor(at, isPinned) {
  const { detail } = shownGroup;
  shownGroup.cursor = Math.round(Math.min(Math.max(at, detail.from), detail.to));
  if (isPinned) shownGroup.pinned = shownGroup.cursor;
  placeCursor();
  fillPanel(shownGroup.cursor);
}

function placeCursor() {
  const { cursor, scale, line, slider, node, detail } = shownGroup;
  if (!scale) return;
  const isShown = scale.has(cursor), left = Math.min(Math.max(scale.x(cursor), 0), scale.width),
    plot = shownGroup.axes[0].plot;
  line.style.transform = `translateX(${(left + plot.offsetLeft).toFixed(1)}px)`;
  line.classList.toggle("is-pinned", shownGroup.pinned !== null);
  line.hidden = !isShown || !node.isConnected;
  slider.style.transform = `translateX(${(left - 7).toFixed(1)}px)`;
  for (const [name, value] of [["valuemin", detail.from], ["valuemax", detail.to], ["valuenow", cursor],
    ["valuetext", `${momentText(cursor)} ${zone.name}`]])
    slider.setAttribute(`aria-${name}`, String(value));
}

function changeAddress(change, isStep) {
  Object.assign(page.view, change);
  const address = addressOf(page.view);
  if (address !== location.hash) history[isStep ? "pushState" : "replaceState"](null, "", address);
}

function pin(at) {
  setCursor(at, true);
  changeAddress({ at: shownGroup.cursor }, false);
}

function zoomTo(from, to) {
  const { detail } = shownGroup;
  if (to - from < SHORTEST_ZOOM) [from, to] = [(from + to - SHORTEST_ZOOM) / 2, (from + to + SHORTEST_ZOOM) / 2];
  const isWhole = from <= detail.from && to >= detail.to;
  const zoom = isWhole ? { from: null, to: null } : { from: Math.round(Math.max(from, detail.from)),
    to: Math.round(Math.min(to, detail.to)) };
  takeZoom({ ...zoom, at: shownGroup.pinned });
  changeAddress(zoom, true);
  drawLanes();
  if (shownGroup.pinned === null) setCursor(shownGroup.to, false);
}

function zoomBy(factor) {
  const { from, to, cursor, scale } = shownGroup, middle = scale.has(cursor) ? cursor : (from + to) / 2;
  zoomTo(middle - (middle - from) * factor, middle + (to - middle) * factor);
}

// Back, Forward, or another link of the same group.
function addressChanged() {
  const { view } = page;
  takeZoom(view);
  drawLanes();
  setCursor(shownGroup.pinned ?? shownGroup.to, false);
  if (view.rebalance === null) closeStory();
  else if (story.index < 0 || shownGroup.detail.rebalances.start[story.index] !== view.rebalance)
    openStory(rebalanceAt(shownGroup.detail, view.rebalance), true);
}

function listenToLanes(node) {
  let drag = null, waits = null;
  const timeOfEvent = (event) => {
    const box = shownGroup.axes[0].plot.getBoundingClientRect();
    return shownGroup.from
      + (Math.min(Math.max(event.clientX - box.left, 0), box.width) / box.width) * (shownGroup.to - shownGroup.from);
  };
  const follow = (at, isPinned) => {
    const isWaiting = waits !== null;
    waits = { at, isPinned };
    if (!isWaiting) requestAnimationFrame(() => {
      const next = waits;
      waits = null;
      if (shownGroup.detail && node.isConnected) setCursor(next.at, next.isPinned);
    });
  };
  node.addEventListener("pointerdown", (event) => {
    const plot = event.target.closest(".plot");
    if (!plot || event.button) return;
    const isAxis = Boolean(plot.closest(".axis-lane"));
    drag = { kind: isAxis || event.pointerType !== "mouse" ? "cursor" : "zoom", x: event.clientX,
      at: timeOfEvent(event), lane: plot.closest(".lane") };
    if (isAxis) {
      follow(drag.at, true);
      event.preventDefault();
      shownGroup.slider.focus({ preventScroll: true });
    }
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener("pointermove", (event) => {
    const at = timeOfEvent(event);
    if (drag?.kind === "zoom" && Math.abs(event.clientX - drag.x) > 4) {
      const box = node.getBoundingClientRect(), plot = shownGroup.axes[0].plot.getBoundingClientRect();
      const end = Math.min(Math.max(event.clientX, plot.left), plot.right);
      shownGroup.brush.hidden = false;
      shownGroup.brush.style.left = `${Math.min(drag.x, end) - box.left}px`;
      shownGroup.brush.style.width = `${Math.abs(end - drag.x)}px`;
      drag.isMoved = true;
    } else if (drag?.kind === "cursor") {
      drag.isMoved ||= Math.abs(event.clientX - drag.x) > 4;
      follow(at, true);
    } else if (event.pointerType === "mouse" && (shownGroup.pinned === null || event.shiftKey)
      && event.target.closest(".plot")) follow(at, false);
  });
  const end = (event) => {
    const done = drag;
    drag = null;
    shownGroup.brush.hidden = true;
    if (!done || event.type === "pointercancel") return;
    const at = timeOfEvent(event);
    if (done.kind === "zoom" && done.isMoved) return zoomTo(Math.min(done.at, at), Math.max(done.at, at));
    const rebalance = done.lane.classList.contains("rebalances") && !done.isMoved ? nearestRebalance(at) : -1;
    if (rebalance >= 0) openStory(rebalance);
    else pin(at);
  };
  node.addEventListener("pointerup", end);
  node.addEventListener("pointercancel", end);
  node.addEventListener("pointerleave", () => {
    if (shownGroup.pinned === null && shownGroup.detail && !drag) follow(shownGroup.to, false);
  });
  node.addEventListener("dblclick", (event) => {
    // Not the event's target: that is where the pointer was caught.
    const { left } = shownGroup.axes[0].plot.getBoundingClientRect();
    if (event.clientX >= left) zoomTo(shownGroup.detail.from, shownGroup.detail.to);
  });
}

// The rebalance that a click meant: a tick is narrow, its word is wide.
function nearestRebalance(at) {
  const { detail: { rebalances }, scale } = shownGroup;
  let best = -1, least = 60;
  for (let index = 0; index < rebalances.size; index++) {
    const left = scale.x(rebalances.start[index]), right = scale.x(rebalances.end[index] ?? rebalances.start[index]),
      x = scale.x(at);
    const distance = x < left ? (left - x) * 6 : x > right ? x - right : 0;
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

function stepEvent(direction) {
  const { detail: { events }, cursor, from, to } = shownGroup;
  if (!events.size) return;
  const place = direction > 0 ? events.at.findIndex((at) => at > cursor) : events.at.findLastIndex((at) => at < cursor);
  if (place < 0) return;
  const at = events.at[place], size = to - from;
  if (at < from || at > to) {
    const begin = Math.min(Math.max(at - size / 2, shownGroup.detail.from), shownGroup.detail.to - size);
    zoomTo(begin, begin + size);
  }
  pin(at);
  setText(frame.said, `${momentText(at)}: ${events.text[place]}`);
}

function eventSection(detail) {
  shownGroup.events = element("ol", { class: "events" });
  shownGroup.eventCount = element("p", { class: "quiet" });
  return element("section", { class: "happened", "aria-labelledby": "events-head" },
    element("h2", { id: "events-head" }, "What happened in the shown span, newest first"),
    shownGroup.eventCount, shownGroup.events, detail.events.size ? ""
      : element("p", { class: "quiet" }, "No event of this group is in the log."));
}

function fillEvents(detail) {
  const { events } = detail, { from, to } = shownGroup, places = [];
  for (let index = events.size - 1; index >= 0; index--) if (events.at[index] >= from
    && events.at[index] <= to) places.push(index);
  setText(shownGroup.eventCount, places.length > SHOWN_EVENTS
    ? `The last ${SHOWN_EVENTS} of ${counted(places.length, "event")}; zoom for others.` : "");
  shownGroup.events.replaceChildren(...places.slice(0, SHOWN_EVENTS).map((index) => {
    const rebalance = events.rebalance?.[index] ?? -1, command = events.command?.[index];
    return element("li", { class: events.kind[index] }, button(momentText(events.at[index], 1), () => {
      pin(events.at[index]);
      shownGroup.node.scrollIntoView({ block: "nearest" });
    }, { class: "moment", "aria-label": `Cursor to ${momentText(events.at[index])}` }),
      element("span", { class: "name" }, events.text[index]),
    rebalance >= 0 ? button("story", () => openStory(rebalance),
      { class: "plain", "aria-label": `Story of the rebalance of ${momentText(events.at[index])}` })
      : command ? folded("run next", () => code(command, `Command for ${momentText(events.at[index])}`)) : "");
  }));
}
