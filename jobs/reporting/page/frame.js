// The frame that stays: the list of groups at the left, one view at a time at the right, and the first view itself.

const frame = {};

function buildFrame() {
  frame.search = element("input", { id: "search", type: "search", autocomplete: "off", spellcheck: "false",
    placeholder: "group, topic, member, host", "aria-label": "Search groups by group, topic, member, client or host" });
  frame.search.addEventListener("input", () => {
    page.filter.words = frame.search.value;
    filterChanged();
  });
  frame.selects = Object.fromEntries(["severity", "type", "state"].map((name) => {
    const select = element("select", { "aria-label": `Filter by ${name}` });
    select.addEventListener("change", () => {
      page.filter[name] = select.value;
      filterChanged();
    });
    return [name, select];
  }));
  frame.count = element("output", { for: "search", class: "quiet" });
  frame.clear = button("Clear", clearFilter, { class: "plain" });
  frame.list = element("nav", { class: "list", "aria-label": "Groups, worst first" });
  frame.cluster = element("p", { class: "cluster" });
  frame.side = element("aside", { id: "side", "aria-label": "List of groups" }, frame.cluster,
    element("div", { class: "search", role: "search" }, frame.search, element("div", { class: "selects" },
      Object.values(frame.selects)), element("p", { class: "matched" }, frame.count, frame.clear)), frame.list,
    element("p", { class: "keys quiet" }, element("kbd", null, "j"), " ", element("kbd", null, "k"),
      " next, previous group  ",
      element("kbd", null, "/"), " search"));
  frame.drawer = button("Groups", () => openDrawer(!document.body.classList.contains("has-drawer")),
    { class: "drawer", "aria-controls": "side", "aria-expanded": "false" });
  frame.tabs = Object.fromEntries([["overview", "Overview", "#"], ["findings", "Findings", "#findings"],
    ["cluster", "Cluster", "#cluster"]].map(([name, text, href]) => [name, element("a", { href }, text)]));
  frame.zone = element("select", { "aria-label": "Time zone of all times" });
  frame.zone.addEventListener("change", () => {
    zone.name = frame.zone.value;
    zone.isUntouched = false;
    showView(true);
  });
  frame.asOf = element("span", { class: "as-of" });
  frame.back = element("span");
  frame.main = element("main", { id: "main", tabindex: "-1" });
  frame.foot = element("footer", null);
  frame.said = element("p", { class: "unseen", role: "status" });
  document.getElementById("app").replaceChildren(patterns(), frame.side,
    element("div", { class: "right" }, element("header", { class: "top" }, frame.drawer,
      element("nav", { class: "tabs", "aria-label": "Views" }, frame.back, Object.values(frame.tabs)),
      element("span", { class: "when" }, frame.asOf, element("label", { class: "zone" }, "times in ", frame.zone))),
    frame.main, frame.foot), frame.said);
  frame.main.addEventListener("click", () => openDrawer(false));
}

function openDrawer(isOpen) {
  document.body.classList.toggle("has-drawer", isOpen);
  frame.drawer.setAttribute("aria-expanded", String(isOpen));
  if (isOpen) frame.search.focus({ preventScroll: true });
}

// What the document says about itself; again after each load.
function fillFrame() {
  const { about } = page;
  document.title = `${about.verdict ?? "Report"}: consumer groups of ${shortened(about.cluster, 60)}`;
  frame.cluster.replaceChildren("Consumer groups of ", element("b", null, named(about.cluster, 40)),
    about.verdict ? element("a", { class: `verdict ${about.look ?? ""}`, href: "#findings" }, about.verdict,
      about.exit_code === null || about.exit_code === undefined ? "" : `, exit code ${about.exit_code}`) : "");
  for (const [name, select] of Object.entries(frame.selects)) {
    const values = name === "severity"
      ? [...SEVERITIES, "none"].filter((each) => page.groups.some((group) => group.severity === each))
      : [...new Set(page.groups.map((group) => group[name]))].filter(Boolean).sort();
    select.replaceChildren(element("option", { value: "" }, `any ${name}`), ...values.map((value) =>
      element("option", { value }, value === "none" ? "no finding" : value)));
    select.value = page.filter[name];
  }
  frame.zone.replaceChildren(...zone.choices.map((name) => element("option", { value: name }, name)));
  frame.zone.value = zone.name;
  frame.back.replaceChildren(...(about.back ? [element("a", { href: about.back }, "← Whole report")] : []));
  frame.rows = new Map(page.groups.map((group) => [group.id, listRow(group)]));
  frame.list.replaceChildren(element("ul", null, [...frame.rows.values()]));
  frame.foot.replaceChildren(element("p", null, `Groupscope ${about.version ?? ""}, report of warehouse `,
    element("code", null, shortened(about.warehouse, 200)), ", run ", element("code", null, about.run_id ?? "none"),
    about.finished ? [", finished ", element("time", null, momentText(about.finished)), ` ${zone.name}`] : "",
    ". SQL of this page runs with ",
      element("code", null, `groupscope sql --warehouse ${shortened(about.warehouse, 200)}`), "."));
  filterList();
}

function listRow(group) {
  return element("li", null, element("a", { href: groupAddress(group.id), class: group.severity }, sign(group.severity),
    named(group.id, 30), element("span", { class: "quiet" }, [group.is_tool && "tool", group.verdict, group.state,
      group.lag ? `lag ${shortNumber(group.lag)}` : null].filter(Boolean).join(" · "))));
}

function filterList() {
  const shown = new Set(shownGroups().map((group) => group.id));
  for (const [id, row] of frame.rows) row.hidden = !shown.has(id) && id !== page.view.group;
  setText(frame.count, isFiltered() ? `${shown.size} of ${counted(page.groups.length, "group")}`
    : `${counted(page.groups.length, "group")}, worst first`);
  frame.clear.hidden = !isFiltered();
}

function filterChanged() {
  filterList();
  if (page.view.name === "overview") {
    fillMap();
    fillFindings(overview.findings, FIRST_FINDINGS);
  } else if (page.view.name === "findings") fillFindings(frame.main.querySelector(".findings"), Infinity);
}

function clearFilter() {
  page.filter = { words: "", severity: "", type: "", state: "" };
  frame.search.value = "";
  for (const select of Object.values(frame.selects)) select.value = "";
  filterChanged();
}

// Of the view that the address names. `isAgain`: the same view with new data or in another zone.
function showView(isAgain = false) {
  const before = page.view;
  page.view = viewOf(location.hash);
  const { view } = page;
  if (isAgain) fillFrame();
  const setCurrent = (link, isIt) => (isIt ? link.setAttribute("aria-current", "page")
    : link.removeAttribute("aria-current"));
  for (const [name, link] of Object.entries(frame.tabs)) setCurrent(link, name === view.name);
  for (const [id, row] of frame.rows) setCurrent(row.firstChild, id === view.group);
  frame.rows.get(view.group)?.scrollIntoView({ block: "nearest" });
  if (!isAgain) filterList();
  frame.asOf.replaceChildren(...(page.about.as_of === null ? []
    : ["as of ", element("time", null, momentText(page.about.as_of))]));
  if (view.name === "group" && before.name === "group" && before.group === view.group && !isAgain && shownGroup.detail)
    return addressChanged(before);
  openDrawer(false);
  closeStory();
  shownGroup.detail = null;
  if (view.name === "overview") showOverview();
  else if (view.name === "findings") showFindings();
  else if (view.name === "cluster") showCluster();
  else showGroup(view);
  if (!isAgain && before.isShown) {
    scrollTo(0, 0);
    frame.main.focus({ preventScroll: true });
  }
  page.view.isShown = true;
}

const overview = {}, FIRST_FINDINGS = 8;

function showOverview() {
  const { document: { sentence, notices, tiles }, about } = page;
  // A warning fails no run, and is not green for that.
  const worst = ["critical", "warning"].find((each) => page.findings.some((finding) => finding.severity === each
    && !isWaived(finding)));
  overview.findings = element("div", { class: "findings" });
  overview.map = element("section", { class: "map", "aria-labelledby": "map-head" });
  frame.main.replaceChildren(element("h1", { class: `sentence ${worst ?? about.look ?? ""}` }, sentenceNodes(sentence)),
    element("div", { class: "notices" },
      (notices ?? []).map((notice) => element("p", { class: "notice" }, sentenceNodes(notice))),
      about.is_redacted ? element("p", { class: "notice" },
        "Redacted: hashes with a key are written for the names of groups, "
        + "members, clients, hosts and topics. Equal names have equal hashes.") : ""),
    element("div", { class: "tiles" }, (tiles ?? []).map(tileView)), overview.map,
    element("section", { "aria-labelledby": "findings-head" }, element("div", { class: "head" },
      element("h2", { id: "findings-head" }, "Findings, worst and newest first"),
      page.findings.length > 1 ? element("a", { href: "#findings" }, `all ${counted(page.findings.length, "finding")}`)
        : ""),
    overview.findings));
  fillMap();
  fillFindings(overview.findings, FIRST_FINDINGS);
}

function tileView(tile) {
  const past = sparkline(tile);
  const views = ["findings", "cluster"], link = (tile.link ?? "").replace(/^#/, "");
  return element("a", { class: "tile", href: `#${views.includes(link.split("/")[0]) ? link : ""}`, onclick: () => {
    // Of the map: the order in which what the tile says is at the top.
    map.sort = tile.name === "lag" ? "lag" : "worst";
    if (page.view.name === "overview" && !views.includes(link)) fillMap();
  } }, element("span", { class: "tile-title" }, tile.title), element("strong", null, tileNodes(tile.value)),
    element("span", { class: "tile-note" }, tileNodes(tile.note)), past);
}

// A tile is a link itself: names in it are texts.
function tileNodes(parts) {
  return sentenceNodes(parts).map((node) => (node instanceof Element && node.tagName === "A"
    ? element("span", { class: "name" }, node.textContent) : node));
}

// A small line of the past, as bars: a moment of one column is seen too; gaps are where nothing is known.
function sparkline({ name, past: given, title, from, to }) {
  const past = name === "groups" ? troubledGroups() : name === "lag" ? carried(given ?? []) : given;
  const known = (past ?? []).filter((value) => value !== null);
  if (!known.length) return element("span", { class: "spark none quiet" }, "no past known");
  const most = Math.max(...known, 0) || 1, width = 200, height = 22, step = width / past.length;
  const area = past.map((value, index) => (value === null ? "" : `M${(index * step).toFixed(1)} ${height}v${
    (-Math.max(value ? 1.5 : 0.5, (value / most) * (height - 1))).toFixed(1)}h${step.toFixed(2)}V${height}z`)).join("");
  return shape("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `${title} from ${momentText(from)} to ${momentText(to)}: highest ${numberText(most)}, last ${
      numberText(past.findLast((value) => value !== null))}` }, shape("path", { d: area }));
}

// Of each column of the map: how many groups were down or read by nobody.
function troubledGroups() {
  const { states, columns } = page.document.map ?? { columns: 0 };
  return Array.from({ length: columns }, (_, place) => Object.values(states)
    .filter((letters) => "DN".includes(letters[place])).length);
}

// A lag is measured now and then, and holds until it is measured again.
function carried(values) {
  let last = null;
  return values.map((value) => (last = value ?? last));
}

function showCluster() {
  const { cluster } = page.document;
  frame.main.replaceChildren(element("h1", null, "Cluster"), element("p", { class: "quiet" },
    "What the warehouse knows beyond single groups. Each table has the SQL that gives all of its rows."),
  ...(cluster?.length ? cluster.map((each, index) => {
    const columns = tableOf(each.rows), total = columns.size + (each.more ?? 0);
    const node = folded(`${each.title}: ${counted(total, "row")}`, () => [
      tableView(each.columns, each.kinds, columns, each.title),
      each.more ? element("p", { class: "quiet" }, `${counted(each.more, "more row")} by the SQL.`) : "",
      code(each.statement, `SQL of ${each.title}`)], { class: "listing", id: `rows-${each.name}` });
    node.open = page.view.part === each.name || (!page.view.part && index < 2);
    return node;
  }) : [element("p", { class: "quiet" },
    "The tables of coverage, volume, expiry and topics have no rows. They come with the "
    + "first whole run: groupscope audit.")]));
  if (page.view.part) document.getElementById(`rows-${page.view.part}`)?.scrollIntoView();
}
