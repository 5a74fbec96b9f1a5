// The story of one rebalance: before and after side by side, who gained, who lost, how long nobody read, the evidence.

const story = { dialog: null, index: -1 };

function openStory(index, isFromAddress = false) {
  const { detail, group } = shownGroup;
  if (!detail || index < 0 || index >= detail.rebalances.size) return;
  if (!story.dialog) {
    story.dialog = element("dialog", { class: "story", "aria-labelledby": "story-head" });
    story.dialog.addEventListener("close", () => {
      if (story.index < 0) return;
      story.index = -1;
      changeAddress({ rebalance: null }, false);
    });
    story.dialog.addEventListener("click", (event) => event.target === story.dialog && story.dialog.close());
    document.body.append(story.dialog);
  }
  const isOpen = story.index >= 0;
  story.index = index;
  story.dialog.replaceChildren(...storyNodes(detail, index, group));
  if (!story.dialog.open) story.dialog.showModal();
  story.dialog.scrollTop = 0;
  document.getElementById("story-head").focus({ preventScroll: true });
  if (!isFromAddress) {
    setCursor(detail.rebalances.start[index], true);
    changeAddress({ at: detail.rebalances.start[index], rebalance: detail.rebalances.start[index] }, !isOpen);
  }
}

function closeStory() {
  if (story.index < 0) return;
  story.index = -1;
  story.dialog.close();
}

function storyNodes(detail, index, group) {
  const table = detail.rebalances, value = (name) => table[name]?.[index] ?? null, size = table.size;
  const took = value("end") === null ? "it has not ended" : `took ${durationText(value("end") - value("start"))}`;
  const [before, after, verdict] = [value("generation_before"), value("generation_after"), value("verdict")];
  const counts = { moved: "moved", returned: "stopped and returned to the same member",
    unowned: "without an owner after" };
  const changed = Object.entries(counts).filter(([name]) => value(name))
    .map(([name, words]) => `${value(name)} ${words}`);
  const facts = Object.entries({
    Generation: before === null && after === null ? null : `${before ?? "none"} → ${after ?? "none"}`,
    Outcome: value("outcome"), Partitions: changed.join(", ") || "none moved",
    "Nobody read": value("unread_high") === null ? null : boundsWords(value("unread_low"), value("unread_high")),
    Assignor: value("assignor") && `${value("assignor")}${verdict ? `: ${causeText(verdict)}` : ""}`,
  }).filter(([, text]) => text);
  return [
    element("div", { class: "story-top" }, button("← Before", () => openStory(index - 1), { disabled: index === 0 }),
      button("After →", () => openStory(index + 1), { disabled: index === size - 1 }),
      element("span", { class: "quiet" }, `${index + 1} of ${counted(size, "rebalance")} of `, named(group.id, 40)),
      button("Close", () => story.dialog.close(), { class: "close" })),
    element("h2", { id: "story-head", tabindex: "-1" },
      `${causeText(value("cause"))}: ${momentText(value("start"), 1)} ${zone.name}, ${took}`),
    value("sentence") ? element("p", { class: "name" }, value("sentence")) : "",
    element("dl", { class: "facts" },
      facts.map(([name, text]) => element("div", null, element("dt", null, name), element("dd", null, text)))),
    beforeAndAfter(detail, index), moveTable(detail, index),
    element("section", null, element("h3", null, "Evidence"),
      element("dl", { class: "lines" }, (value("lines") ?? []).map(([name, text]) =>
      [element("dt", null, name), element("dd", { class: "name" }, text)])),
    value("offset") === null ? ""
      : element("p", { class: "quiet" }, `Record at offset ${value("offset")} of the group's offsets partition.`),
    value("command") ? code(value("command"), "Command that shows this rebalance") : "",
    statementOf("rebalances") ? folded("SQL of the group's rebalances",
      () => code(statementOf("rebalances"), "SQL of the group's rebalances")) : ""),
  ];
}

function boundsWords(low, high) {
  const [least, most] = [durationText(low), durationText(high)];
  return low === null || low === undefined || least === most ? most : low < 10 ? `up to ${most}`
    : `between ${least} and ${most}`;
}

const rowsAbout = (table, rebalance) => Array.from({ length: table.size }, (_, place) => place)
  .filter((place) => table.rebalance[place] === rebalance);

// A row a member; what it lost is struck through before, what it gained is marked after.
function beforeAndAfter(detail, index) {
  const table = detail.assignments, rows = rowsAbout(table, index);
  if (!rows.length) return element("p", { class: "quiet" }, "The assignment before and after is not in the warehouse.");
  const before = detail.rebalances.generation_before?.[index], after = detail.rebalances.generation_after?.[index];
  const view = rows.map((place) => {
    const [first, second] = [table.before[place] ?? [], table.after[place] ?? []];
    return { row: memberRow(detail, table.member[place]), isLeader: table.is_leader?.[place], before: first,
      after: second,
      lost: first.filter((each) => !second.includes(each)), gained: second.filter((each) => !first.includes(each)) };
  }).sort((a, b) => b.lost.length + b.gained.length - a.lost.length - a.gained.length
    || (a.row?.number ?? 0) - (b.row?.number ?? 0));
  return element("section", null, element("h3", null, "Before and after"), element("div", { class: "rows" },
    element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Before and after" },
    element("table", { class: "sides" }, element("thead", null, element("tr", null, ["Member",
      `Before${before === null || before === undefined ? "" : ` (generation ${before})`}`,
      `After${after === null || after === undefined ? "" : ` (generation ${after})`}`, "Change"].map((text) =>
        element("th", { scope: "col" }, text)))),
    element("tbody", null, view.map((each) => element("tr", null,
      element("th", { scope: "row" }, memberSwatch(each.row), each.row
        ? [each.row.instance ? "⚓ " : "", named(memberName(each.row), 36), each.row.host
        ? element("span", { class: "quiet" }, ` ${shortened(hostText(each.row.host), 30)}`) : ""] : "nobody",
          each.isLeader ? " (leader)" : ""),
      element("td", { "data-label": "before" }, partitionChips(detail, each.before, each.lost, "lost")),
      element("td", { "data-label": "after" }, partitionChips(detail, each.after, each.gained, "gained")),
      element("td", { "data-label": "change" }, [each.gained.length ? `gained ${each.gained.length}` : "",
        each.lost.length ? `lost ${each.lost.length}` : ""].filter(Boolean).join(", ") || "kept"))))))));
}

function memberSwatch(row) {
  return row ? element("span", { class: `swatch ${memberClass(row)}` }, `M${row.number}`) : "";
}

function partitionChips(detail, all, marked, look) {
  if (!all.length) return element("span", { class: "quiet" }, "none");
  const isOne = new Set(detail.partitions.topic).size === 1, text = (index) =>
    (isOne ? String(detail.partitions.partition[index]) : shortened(partitionText(detail, index), 24));
  const kept = all.filter((each) => !marked.includes(each));
  const chips = marked.slice(0, 60).map((index) => element(look === "lost" ? "del" : "ins", null,
    `${look === "lost" ? "−" : "+"}${text(index)}`));
  return element("span", { class: "chips" }, chips, marked.length > 60 ? `and ${marked.length - 60} more` : "",
    kept.slice(0, 60).map((index) => element("span", null, text(index))), kept.length > 60
      ? ` and ${kept.length - 60} more` : "");
}

function moveTable(detail, index) {
  const { moves } = detail, places = rowsAbout(moves, index);
  if (!places.length) return "";
  places.sort((a, b) => (moves.unread_high?.[b] ?? 0) - (moves.unread_high?.[a] ?? 0));
  const pick = (make) => Array.from({ length: moves.size }, (_, place) => make(place));
  return element("section", null, element("h3", null, "Partitions that changed hands, longest unread first"), tableView(
    ["partition", "from", "to", "nobody read for", "how that is known"], ["text", "text", "text", "text", "text"], {
      partition: pick((place) => partitionText(detail, moves.partition[place])),
      from: pick((place) => memberText(memberRow(detail, moves.from_member[place]))),
      to: pick((place) => memberText(memberRow(detail, moves.to_member[place]))),
      "nobody read for": pick((place) => (moves.unread_high?.[place] === null
        || moves.unread_high?.[place] === undefined ? "unknown"
        : boundsWords(moves.unread_low[place], moves.unread_high[place]))),
      "how that is known": moves.basis ?? pick(() => ""),
    }, "Partitions that changed hands", places));
}
