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

  window.addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details:not(.code)")) part.open = true;
  });
})();
