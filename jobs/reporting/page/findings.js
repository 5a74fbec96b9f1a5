// Findings: folded by kind and severity, new before known, what to run next; evidence and SQL one click away.

// Of those that the filter leaves, one entry a severity and kind, in the order of the worst of each.
function foldedFindings() {
  const words = filterWords(), { severity, type, state } = page.filter, entries = new Map();
  const shown = page.findings.filter((finding) => {
    const group = page.byId.get(finding.group);
    const text = [finding.kind, finding.heading, finding.message, finding.topic, group?.searched].join(" ")
      .toLowerCase();
    return (!severity || finding.severity === severity) && (!type || group?.type === type)
      && (!state || group?.state === state)
      && matches(text, words);
  });
  for (const finding of shown) {
    const key = `${isWaived(finding)} ${finding.severity} ${finding.kind}`;
    if (!entries.has(key)) entries.set(key, []);
    entries.get(key).push(finding);
  }
  const newest = (list) => list.toSorted((a, b) => Number(b.is_new ?? false) - Number(a.is_new ?? false)
    || a.rank - b.rank);
  const place = (list) => [isWaived(list[0]) ? 1 : 0, SEVERITIES.indexOf(list[0].severity),
    list.some((each) => each.is_new) ? 0 : 1, list[0].rank];
  return [...entries.values()].map(newest).sort((a, b) => {
    const [first, second] = [place(a), place(b)], index = first.findIndex((value, at) => value !== second[at]);
    return index < 0 ? 0 : first[index] - second[index];
  });
}

const isWaived = (finding) => Boolean(finding.waived_until);

function fillFindings(node, most) {
  const entries = foldedFindings();
  if (!entries.length) {
    node.replaceChildren(element("p", { class: "no-findings" }, page.findings.length
      ? "No finding has all of these words and filters."
      : page.about.exit_code === null || page.about.exit_code === undefined
        ? "No checks have run yet: `groupscope audit` runs them."
        : "Nothing is wrong: no check found anything."));
    return;
  }
  node.replaceChildren(...entries.slice(0, most)
    .map((list) => (list.length === 1 ? findingView(list[0]) : foldView(list))),
    ...(entries.length > most ? [element("p", null, element("a", { href: "#findings" },
      `${counted(entries.length - most, "more kind", "more kinds")} of findings`))] : []));
}

function foldView(list) {
  const [first] = list, groups = [...new Set(list.map((each) => each.group).filter(Boolean))];
  const since = Math.min(...list.map((each) => each.since ?? each.at ?? Infinity));
  const fresh = list.filter((each) => each.is_new).length;
  return folded([badge(first.severity), element("span", { class: "finding-text" },
    element("b", null, `${list.length} × ${first.heading}`),
    groups.length ? [": ", groups.slice(0, 4).map((id, index) => [index ? ", " : "", named(id, 26)]), groups.length > 4
      ? ` and ${groups.length - 4} more` : ""] : "",
        element("span", { class: "quiet" }, `, such as: ${shortened(first.message, 160)}`)),
  element("span", { class: "finding-when" }, fresh ? element("span", { class: "badge new" }, `${fresh} new`) : "",
    Number.isFinite(since) ? `first at ${shortMoment(since, page.about.as_of)}` : "")],
  () => list.map((finding) => findingView(finding)), { class: `finding fold ${first.severity}` });
}

function findingView(finding, hasGroup = true) {
  const since = finding.since ?? finding.at;
  return folded([badge(finding.severity), element("span", { class: "finding-text" }, finding.group && hasGroup
    ? [element("b", null, named(finding.group, 40)), " "] : "",
      element("span", null, `${finding.heading}: ${shortened(finding.message, 400)}`)),
  element("span", { class: "finding-when" }, finding.is_new ? element("span", { class: "badge new" }, "new") : "",
    isWaived(finding) ? element("span", { class: "badge" }, `waived until ${momentText(finding.waived_until, MINUTE)}`)
      : "",
    since ? element("time", { datetime: isoText(since), title: momentText(since) },
      `since ${shortMoment(since, page.about.as_of)}`) : "")],
  () => findingDetails(finding), { class: `finding ${finding.severity}` });
}

function findingDetails(finding) {
  const at = finding.at ?? finding.since, ago = at && page.about.as_of
    ? `, ${durationText(page.about.as_of - at)} before the end` : "";
  return element("div", { class: "finding-body" }, element("p", null, withCode(finding.meaning)),
    finding.message && finding.message.length > 400 ? element("p", { class: "name" }, finding.message) : "",
    element("p", { class: "quiet" }, [finding.confidence, at ? `${momentText(at)} ${zone.name}${ago}` : null,
      finding.evidence,
      finding.first_seen ? `first reported ${momentText(finding.first_seen)}` : null, finding.waiver].filter(Boolean)
        .join("; "),
    " ", element("code", null, finding.kind)),
    finding.group && page.byId.has(finding.group)
      ? element("p", null, element("a", { href: groupAddress(finding.group, { at }) },
      "Show ", named(finding.group, 40), at ? ` at ${shortMoment(at, page.about.as_of)}` : "")) : "",
    finding.next ? [element("p", { class: "label" }, "Run next"),
      code(finding.next, `Command to run next for finding ${finding.rank}`)] : "",
    finding.dump ? folded("Records of the log",
      () => code(finding.dump, `Command for the records of finding ${finding.rank}`)) : "",
    finding.query ? folded(finding.is_query_of_query ? "SQL that gives the SQL of all rows" : "SQL that lists all rows",
      () => code(finding.query, `SQL of finding ${finding.rank}`)) : "");
}

// Text between two backticks becomes code.
function withCode(text) {
  return (text ?? "").split("`").map((part, index) => (index % 2 ? element("code", null, part) : part));
}

function showFindings() {
  const list = element("div", { class: "findings" }), { statements } = page.document;
  frame.main.replaceChildren(element("h1", null, "Findings"), element("p", { class: "quiet" },
    `${SEVERITIES.map((each) => `${page.findings.filter((finding) => finding.severity === each && !isWaived(finding))
      .length} ${each}`).join(", ")
    }${page.findings.some(isWaived) ? `, ${page.findings.filter(isWaived).length} waived`
      : ""}. New ones come before known ones; each opens.`), list,
  statements?.findings ? folded("SQL of all findings", () => code(statements.findings, "SQL of all findings"),
    { class: "sql" }) : "");
  fillFindings(list, Infinity);
}
