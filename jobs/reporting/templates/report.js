"use strict";
(() => {
  const search = document.getElementById("search");
  const searching = search ? searched() : null;

  // What the search of the first page does: asks for all words, and for columns of groups such as state:Stable.
  function searched() {
    const severity = document.getElementById("severity");
    const matches = document.getElementById("match-count");
    const kinds = [
      ["findings", ".findings > li"],
      ["groups", "table.groups > tbody > tr"],
      ["parts", "section.group"],
    ];
    const columns = [...document.querySelectorAll("table.groups > thead th")].map((head) => head.textContent);
    const ofColumns = (row) => new Set([...row.cells].map(
      (cell, place) => `${columns[place]}:${cell.textContent.trim().replaceAll(" ", "_")}`.toLowerCase()));
    // Read once, at the first key: opening the page shall wait for nothing.
    let items = null;
    const known = () => items ??= kinds.map(([name, selector]) => [name, [...document.querySelectorAll(selector)].map(
      (node) => ({
        node,
        severity: node.dataset.severity ?? "",
        isGroup: name === "groups",
        text: `${node.dataset.words ?? ""} ${name === "parts" ? "" : node.textContent}`.toLowerCase(),
      }))]);
    // A thousand rows that come back are laid out by and by, so that the next key does not wait for them.
    const AT_ONCE = 150;
    let round = 0;
    const show = (nodes, ofRound) => {
      if (ofRound !== round) return;
      for (const node of nodes.splice(0, AT_ONCE)) node.hidden = false;
      if (nodes.length) requestAnimationFrame(() => show(nodes, ofRound));
    };
    const isColumn = (word) => columns.some((column) => word.startsWith(`${column}:`));
    const fitting = (item, words) => words.every((word) =>
      isColumn(word) ? !item.isGroup || (item.columns ??= ofColumns(item.node)).has(word) : item.text.includes(word));
    const filter = () => {
      const back = [];
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = severity.value;
      const counts = [];
      for (const [name, some] of known()) {
        let shown = 0;
        for (const item of some) {
          const fits = (!wanted || item.severity === wanted) && fitting(item, words);
          if (fits && item.node.hidden) back.push(item.node);
          if (!fits && !item.node.hidden) item.node.hidden = true;
          shown += fits;
        }
        if (name !== "parts") counts.push(`${shown} of ${some.length} ${name}`);
      }
      show(back, ++round);
      matches.textContent = words.length || wanted ? counts.join(", ") : "";
    };
    const set = (words) => { search.value = words; severity.value = ""; filter(); };
    search.addEventListener("input", filter);
    severity.addEventListener("input", filter);
    search.form.addEventListener("submit", (event) => event.preventDefault());
    search.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { search.value = ""; filter(); }
    });
    // A number of the overview shows the groups that it counts.
    document.getElementById("overview").parentElement.addEventListener("click", (event) => {
      const words = event.target.dataset.search;
      if (words) set(words);
    });
    return { set };
  }

  // Counts what ends a scroll to a link: another link, the way back, and what somebody does.
  let turns = 0;
  for (const each of ["wheel", "touchstart", "mousedown", "keydown"]) {
    window.addEventListener(each, () => { turns += 1; }, { passive: true });
  }
  // A link leads to what the search has hidden, and into what is closed.
  const reveal = () => {
    turns += 1;
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const outer = target.closest("[hidden]");
    if (outer) {
      outer.hidden = false;
      searching.set("");
    }
    for (let each = target.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
    scrollTo(target);
  };
  const [STILL_FRAMES, STILL_MS, MOST_MS] = [30, 1000, 30000];
  // Parts get their true height when they come near: what is above may grow for a while, longest on a busy machine. So
  // this scrolls until nothing has moved for a second, unless something ends it. Frames are counted too: on a busy
  // machine there may be none for a second. On the way back the address changes before any event says so.
  const scrollTo = (target) => {
    const [mine, hash] = [turns, location.hash];
    const begin = performance.now();
    let moved = begin;
    let still = 0;
    const step = () => {
      const now = performance.now();
      if (turns !== mine || location.hash !== hash || now - begin > MOST_MS) return;
      if (still > STILL_FRAMES && now - moved > STILL_MS) return;
      const before = target.getBoundingClientRect().top;
      target.scrollIntoView();
      still += 1;
      if (Math.abs(target.getBoundingClientRect().top - before) >= 1) [moved, still] = [now, 0];
      requestAnimationFrame(step);
    };
    step();
  };
  window.addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
