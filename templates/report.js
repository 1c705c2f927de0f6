"use strict";
// Enhances a page that is complete without it: lights up counterparts, opens what a link points at, adds keys.
(() => {
  const places = new Map();
  for (const place of document.querySelectorAll("[data-of]")) {
    const id = place.dataset.of;
    places.set(id, [...(places.get(id) || []), place]);
  }
  const linksOf = (id) =>
    (places.get(id) || []).flatMap((place) => (place.dataset.links || "").split(" ")).filter(Boolean);

  let lit = [];
  let current = "";
  const light = (target) => {
    const place = target instanceof Element ? target.closest("[data-of]") : null;
    const id = place ? place.dataset.of : "";
    if (id === current) return;
    current = id;
    for (const old of lit) old.classList.remove("lit");
    lit = id ? [id, ...linksOf(id)].flatMap((other) => places.get(other) || []) : [];
    for (const one of lit) one.classList.add("lit");
  };
  document.addEventListener("pointerover", (event) => light(event.target));
  document.addEventListener("focusin", (event) => light(event.target));

  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  if (location.hash) reveal();

  const cards = [...document.querySelectorAll("#rewrites .card")];
  const step = (by) => {
    const active = cards.indexOf(document.activeElement && document.activeElement.closest("#rewrites .card"));
    const start = active < 0 && by < 0 ? cards.length : active;
    const next = cards[Math.min(Math.max(start + by, 0), cards.length - 1)];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "start" });
  };
  const help = document.getElementById("help");
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    "?": () => help && help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (help && help.open)) return;
    if (event.target instanceof Element && event.target.closest("input, textarea, select")) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  const perfetto = "https://ui.perfetto.dev";
  // The data's layout is described in compdiff/report/perfetto.py.
  const traceEvents = ({ names, shades, sides }) => {
    const events = [];
    sides.forEach((side, index) => {
      const pid = index + 1;
      events.push({ ph: "M", pid, name: "process_name", args: { name: side.label } });
      events.push({ ph: "M", pid, name: "process_sort_index", args: { sort_index: pid } });
      side.lanes.forEach((lane, number) => {
        const tid = number + 1;
        events.push({ ph: "M", pid, tid, name: "thread_name", args: { name: lane.name } });
        events.push({ ph: "M", pid, tid, name: "thread_sort_index", args: { sort_index: tid } });
        for (let at = 0, start = 0; at < lane.rows.length; at += 6) {
          const [name, after, duration, id, shade, launch] = lane.rows.slice(at, at + 6);
          start += after;
          const args = lane.prefix ? { item: lane.prefix + id, fate: shades[shade] } : {};
          const event = { name: names[name], pid, tid, ts: start / 1000 };
          events.push({ ...event, ph: "X", dur: duration / 1000, args });
          if (!launch) continue;
          const flow = { ...event, name: "launch", cat: "launch", id: `${pid}-${launch}` };
          events.push(lane.prefix ? { ...flow, ph: "f", bp: "e" } : { ...flow, ph: "s" });
        }
      });
    });
    return events;
  };
  const openInPerfetto = () => {
    const data = JSON.parse(document.getElementById("timeline-data").textContent);
    const trace = JSON.stringify({ displayTimeUnit: "ns", traceEvents: traceEvents(data) });
    const buffer = new TextEncoder().encode(trace).buffer;
    const other = window.open(perfetto);
    if (!other) return;
    // The other window answers as soon as it listens; until then it is asked again.
    const timer = setInterval(() => (other.closed ? stop() : other.postMessage("PING", perfetto)), 50);
    const answer = (event) => {
      if (event.source !== other || event.origin !== perfetto || event.data !== "PONG") return;
      stop();
      other.postMessage({ perfetto: { buffer, title: data.title } }, perfetto, [buffer]);
    };
    const stop = () => {
      clearInterval(timer);
      window.removeEventListener("message", answer);
    };
    window.addEventListener("message", answer);
  };
  const opener = document.getElementById("open-in-perfetto");
  if (opener) {
    opener.parentElement.hidden = false;
    opener.addEventListener("click", openInPerfetto);
  }

  window.addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details:not(.code)")) part.open = true;
  });
})();
