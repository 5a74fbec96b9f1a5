// Keys, printing, and the start of the page.

function stepGroup(direction) {
  const shown = shownGroups();
  if (!shown.length) return;
  const place = shown.findIndex((group) => group.id === page.view.group);
  const next = place < 0 && direction < 0 ? shown.length - 1 : place + direction;
  location.href = groupAddress(shown[Math.min(Math.max(next, 0), shown.length - 1)].id);
}

const isTyping = (node) => ["INPUT", "SELECT", "TEXTAREA"].includes(node.tagName);

function keyPressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { key } = event;
  if (key === "Escape" && event.target === frame.search) {
    clearFilter();
    return frame.search.blur();
  }
  if (key === "Escape" && document.body.classList.contains("has-drawer")) {
    openDrawer(false);
    return frame.drawer.focus();
  }
  if (key === "Enter" && event.target === frame.search) {
    const [first] = shownGroups();
    if (first) location.href = groupAddress(first.id);
    return;
  }
  if (isTyping(event.target)) return;
  if (story.index >= 0) {
    if (key === "ArrowLeft" || key === "ArrowRight") {
      event.preventDefault();
      openStory(story.index + (key === "ArrowRight" ? 1 : -1));
    }
    return;
  }
  if (key === "/") {
    event.preventDefault();
    if (getComputedStyle(frame.drawer).display !== "none") openDrawer(true);
    frame.search.focus();
    return frame.search.select();
  }
  if (key === "j" || key === "k") return stepGroup(key === "j" ? 1 : -1);
  if (!shownGroup.detail) return;
  const size = shownGroup.to - shownGroup.from, actions = {
    ArrowLeft: () => (event.shiftKey ? pin(shownGroup.cursor - size / 200) : stepEvent(-1)),
    ArrowRight: () => (event.shiftKey ? pin(shownGroup.cursor + size / 200) : stepEvent(1)),
    "+": () => zoomBy(0.5), "=": () => zoomBy(0.5), "-": () => zoomBy(2),
    0: () => zoomTo(shownGroup.detail.from, shownGroup.detail.to),
    Escape: () => {
      shownGroup.pinned = null;
      changeAddress({ at: null }, false);
      setCursor(shownGroup.to, false);
    },
    Enter: () => event.target === shownGroup.slider && openStory(panel.rebalance),
    Home: () => event.target === shownGroup.slider && pin(shownGroup.from),
    End: () => event.target === shownGroup.slider && pin(shownGroup.to),
  };
  // A table that scrolls keeps its own arrows.
  if (!actions[key] || (key.startsWith("Arrow") && event.target.closest?.(".wide, pre"))) return;
  if (key !== "Enter") event.preventDefault();
  actions[key]();
}

// Paper has another width: what is drawn in pixels is drawn again.
function redraw() {
  if (shownGroup.detail) drawLanes();
  if (page.view.name === "overview" && overview.map?.isConnected && map.rows) fillMap();
}

function load(document) {
  takeDocument(document);
  showView(true);
}

function start() {
  buildFrame();
  takeDocument(JSON.parse(document.getElementById("data").textContent));
  showView(true);
  addEventListener("hashchange", () => showView());
  addEventListener("keydown", keyPressed);
  addEventListener("beforeprint", redraw);
  addEventListener("afterprint", redraw);
  matchMedia("print").addEventListener("change", redraw);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width && page.view.name === "overview") redraw();
    width = innerWidth;
  });
  window.groupscope = { load, facts: (at) => factsAt(shownGroup.detail, at,
    Array.from({ length: shownGroup.detail.partitions.size }, (_, index) => index)) };
}

start();
