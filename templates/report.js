"use strict";
// Enhances a page that is complete without it: lights up counterparts, opens what a link points at, searches, steps through
// repetitions, draws ribbons, adds keys. Every text goes in as text, never as markup.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const make = (name, attributes = {}, words = "") => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = words;
    return element;
  };
  const element = (target) => (target instanceof Element ? target : null);

  // ------------------------------------------------------------ items and their counterparts
  let places = null;
  const placesOf = (id) => {
    if (!places) {
      places = new Map();
      for (const place of all("[data-of]")) {
        const known = places.get(place.dataset.of);
        if (known) known.push(place);
        else places.set(place.dataset.of, [place]);
      }
    }
    return places.get(id) || [];
  };
  const linksOf = (id) =>
    placesOf(id).flatMap((place) => (place.dataset.links || "").split(" ")).filter(Boolean);
  const related = (id) => [...new Set([id, ...linksOf(id)])];

  let lit = [];
  let current = "";
  let pinned = "";
  const light = (id) => {
    const wanted = id || pinned;
    if (wanted === current) return;
    current = wanted;
    for (const old of lit) old.classList.remove("lit");
    lit = wanted ? related(wanted).flatMap(placesOf) : [];
    for (const one of lit) one.classList.add("lit");
    drawAgain();
  };
  const idAt = (target) => {
    const place = element(target) && target.closest("[data-of]");
    return place ? place.dataset.of : "";
  };
  document.addEventListener("pointerover", (event) => light(idAt(event.target)));
  document.addEventListener("focusin", (event) => light(idAt(event.target)));

  const bar = byId("pinned");
  const nameOf = (id) => {
    const home = byId(id);
    const name = home && home.querySelector(".name, h3");
    return name ? name.textContent : "";
  };
  const pin = (id) => {
    for (const old of all(".pinned-item")) old.classList.remove("pinned-item");
    pinned = id;
    light("");
    if (!bar) return;
    bar.hidden = !id;
    if (!id) return;
    for (const place of placesOf(id)) place.classList.add("pinned-item");
    const line = bar.querySelector(".pinned-line");
    line.replaceChildren(make("strong", {}, `${id} `), make("code", {}, nameOf(id)));
    const others = related(id).slice(1).filter((other) => placesOf(other).length || foldOf(other));
    line.append(others.length ? " with " : " has no counterpart ");
    others.slice(0, 12).forEach((other) => {
      line.append(make("a", { href: `#${other}`, class: "ref" }, other), " ");
    });
    if (others.length > 12) line.append(`and ${others.length - 12} more`);
  };
  const share = (id) => {
    // Not allowed in every frame; the pin is there all the same.
    try {
      history.replaceState(null, "", id ? `#${id}` : "#");
    } catch {
      return;
    }
  };
  document.addEventListener("click", (event) => {
    const target = element(event.target);
    if (!target || event.defaultPrevented) return;
    const link = target.closest("a[data-of]");
    if (link && link.getAttribute("href") !== `#${link.dataset.of}`) {
      // A link to a repetition that is folded away: the page shows it, then goes there.
      event.preventDefault();
      location.hash = link.dataset.of;
      return;
    }
    if (target.closest("a, button, input, select, summary, label, pre") || String(getSelection())) return;
    const item = target.closest(".item[data-of], .card[data-of]");
    if (!item) return;
    const id = item.dataset.of;
    pin(id === pinned ? "" : id);
    share(pinned);
  });
  if (bar) bar.querySelector("button").addEventListener("click", () => (pin(""), share("")));

  // ------------------------------------------------------------ repetitions
  const foldData = byId("fold-data") ? JSON.parse(byId("fold-data").textContent) : {};
  let homes = null;
  const foldOf = (id) => {
    if (!homes) {
      homes = new Map();
      for (const [fold, { cells, texts }] of Object.entries(foldData)) {
        cells.forEach((cell) => homes.has(cell) || homes.set(cell, [fold, 0]));
        texts.forEach((row, index) =>
          row.forEach((text) => text && !homes.has(text) && homes.set(text, [fold, index + 1])));
      }
    }
    return homes.get(id);
  };
  const originals = new Map();
  // What of a fold's first repetition another one may have otherwise: texts and attributes, as they were at first.
  const changeable = (fold) => {
    if (originals.has(fold)) return originals.get(fold);
    const cells = new Set(foldData[fold].cells);
    const cards = all("#rewrites .card").filter((card) => cells.has(card.dataset.of));
    const found = [];
    for (const root of [...all(`[data-fold="${fold}"]`), ...cards]) {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
      for (let node = root; node; node = walker.nextNode()) {
        if (node.nodeType === Node.TEXT_NODE) {
          if (cells.has(node.data)) found.push([node, "", node.data]);
          continue;
        }
        for (const name of ["id", "data-of", "href", "data-links", "aria-labelledby"]) {
          const value = node.getAttribute(name);
          if (value) found.push([node, name, value]);
        }
      }
    }
    originals.set(fold, found);
    return found;
  };
  const written = (map, name, value) => {
    const one = (text) => map.get(text) ?? text;
    if (name === "href") return value.startsWith("#") ? `#${one(value.slice(1))}` : value;
    if (name === "data-links") return value.split(" ").map(one).join(" ");
    if (name === "aria-labelledby") return `${one(value.replace(/-title$/, ""))}-title`;
    if (name === "id" && value.endsWith("-title")) return `${one(value.slice(0, -6))}-title`;
    return one(value);
  };
  const showRepetition = (fold, index) => {
    const { cells, texts } = foldData[fold];
    const map = new Map(index ? cells.map((cell, at) => [cell, texts[index - 1][at]]) : []);
    for (const [node, name, value] of changeable(fold)) {
      if (!name) node.data = map.get(value) ?? value;
      else node.setAttribute(name, written(map, name, value));
      if (name === "data-of") node.classList.toggle("absent", map.get(value) === null);
    }
    places = null;
    const number = document.querySelector(`[data-repetition="${fold}"]`);
    if (number) number.value = String(index + 1);
    current = null;
    light("");
  };
  document.addEventListener("click", (event) => {
    const button = element(event.target) && event.target.closest("[data-step]");
    if (!button) return;
    const number = button.parentElement.querySelector("[data-repetition]");
    stepTo(number, Number(number.value) + Number(button.dataset.step));
  });
  const stepTo = (number, value) => {
    const wanted = Math.min(Math.max(value || 1, 1), Number(number.max));
    showRepetition(number.dataset.repetition, wanted - 1);
  };
  document.addEventListener("change", (event) => {
    const number = element(event.target) && event.target.closest("[data-repetition]");
    if (number) stepTo(number, Number(number.value));
  });

  // ------------------------------------------------------------ links
  const reveal = () => {
    let id = "";
    try {
      id = decodeURIComponent(location.hash.slice(1));
    } catch {
      return;
    }
    if (!id) return;
    if (!byId(id) && foldOf(id)) showRepetition(...foldOf(id));
    const target = byId(id) || placesOf(id)[0];
    if (!target) return;
    if (target.closest(".filtered")) clearSearch();
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
    // What has not been drawn yet has an estimated height: the place is known after the first look.
    requestAnimationFrame(() => target.scrollIntoView());
    if (target.matches("[data-of]")) pin(target.dataset.of);
  };
  window.addEventListener("hashchange", reveal);

  // ------------------------------------------------------------ search and filter
  const box = byId("search");
  const tally = byId("search-result");
  const entryKinds = [
    ["part of the alignment", "parts of the alignment", "#alignment .group"],
    ["rewrite", "rewrites", "#rewrites .card"],
    ["row", "rows", "#kernels tr.item, #op-calls tr.item"],
  ];
  let entries = null;
  const cardFacts = new Map();
  const readEntries = () => {
    for (const card of all("#rewrites .card")) {
      const { rule = "", pass = "", file = "" } = card.dataset;
      cardFacts.set(card.dataset.of, { rule: rule.toLowerCase(), pass: pass.toLowerCase(), file: file.toLowerCase() });
    }
    return entryKinds.map(([, , selector]) =>
      all(selector).map((place) => ({ place, words: place.textContent.toLowerCase() })));
  };
  const rewritesIn = (entry) => {
    entry.rewrites ||= [entry.place, ...all("[data-of], [data-links]", entry.place)]
      .flatMap((place) => [place.dataset.of, ...(place.dataset.links || "").split(" ")])
      .filter((id) => cardFacts.has(id));
    return entry.rewrites;
  };
  const named = (entry, value, kernels) =>
    all(".name", entry.place).some((name) => {
      const of = name.closest("[data-of]");
      return of && /k\d+$/.test(of.dataset.of) === kernels && name.textContent.toLowerCase().includes(value);
    });
  const byCard = (field) => (entry, value) => rewritesIn(entry).some((id) => cardFacts.get(id)[field].includes(value));
  const fields = {
    op: (entry, value) => named(entry, value, false),
    kernel: (entry, value) => named(entry, value, true),
    fate: (entry, value) => {
      const kind = `fate-${CSS.escape(value)}`;
      return entry.place.matches(`.${kind}, [data-fate="${CSS.escape(value)}"]`) || !!entry.place.querySelector(`.${kind}`)
        || rewritesIn(entry).length > 0 && entry.place.matches(".card") && cardHasFate(entry, kind);
    },
    rule: byCard("rule"),
    pass: byCard("pass"),
    file: (entry, value) =>
      all(".place", entry.place).some((place) => place.textContent.toLowerCase().includes(value))
      || byCard("file")(entry, value),
  };
  const cardHasFate = (entry, kind) =>
    (entry.place.dataset.links || "").split(" ").some((id) => {
      const home = byId(id);
      return home && home.classList.contains(kind);
    });
  const terms = (query) =>
    query.toLowerCase().trim().split(/\s+/).filter(Boolean).map((term) => {
      const [, field, value] = /^([a-z]+):(.*)$/.exec(term) || [];
      const test = fields[field];
      return test ? (entry) => test(entry, value) : (entry) => entry.words.includes(term);
    });
  const search = () => {
    if (!box) return;
    entries ||= readEntries();
    const tests = terms(box.value);
    const counts = entries.map((kind) => {
      let found = 0;
      for (const entry of kind) {
        const fits = tests.every((test) => test(entry));
        entry.place.classList.toggle("filtered", !fits);
        found += fits;
      }
      return found;
    });
    for (const outer of all("#alignment .fold, #alignment .unlike")) {
      outer.classList.toggle("filtered", !outer.querySelector(".group:not(.filtered)"));
    }
    document.body.classList.toggle("searching", tests.length > 0);
    tally.textContent = tests.length
      ? entryKinds.map(([one, many], at) => `${counts[at].toLocaleString("en")} ${counts[at] === 1 ? one : many}`).join(", ")
      : "";
    drawAgain();
  };
  const clearSearch = () => {
    if (!box || !box.value) return;
    box.value = "";
    search();
  };
  if (box) {
    box.addEventListener("input", search);
    box.addEventListener("keydown", (event) => {
      if (event.key === "Escape") (clearSearch(), box.blur());
      if (event.key !== "Enter") return;
      const id = box.value.trim();
      if (/^[a-z]+\d+$/.test(id) && (byId(id) || foldOf(id))) return (clearSearch(), goTo(id));
      const first = document.querySelector("#alignment .group:not(.filtered), #rewrites .card:not(.filtered)");
      if (first) (first.scrollIntoView(), box.blur());
    });
  }
  const goTo = (id) => {
    if (location.hash === `#${id}`) reveal();
    else location.hash = id;
  };

  // ------------------------------------------------------------ ribbons
  const SVG = "http://www.w3.org/2000/svg";
  const near = new Set();
  const fateOf = (item) => [...item.classList].find((name) => name.startsWith("fate-")) || "fate-kept";
  const draw = (group) => {
    const gutter = group.querySelector(":scope > .ribbons");
    if (!gutter || !gutter.clientWidth || !group.clientHeight) return;
    const base = gutter.getBoundingClientRect();
    const width = base.width;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("width", String(width));
    svg.setAttribute("height", String(base.height));
    const box = (place) => {
      const { top, height } = place.getBoundingClientRect();
      return [top - base.top + 4, top - base.top + Math.max(height - 4, 6)];
    };
    const became = group.querySelector(":scope > .became");
    const units = all(":scope > .ops > .item", became);
    const ops = all(":scope > .pairs .ops > .item", group);
    const incoming = new Map();
    const pairs = ops.flatMap((op) => {
      const links = new Set((op.dataset.links || "").split(" "));
      const hit = units.filter((unit) => links.has(unit.dataset.of) || all("[data-of]", unit).some((one) => links.has(one.dataset.of)));
      const refs = all(":scope > .elsewhere .ref", became).filter((one) => links.has(one.dataset.of));
      const targets = [...hit, ...refs];
      for (const target of targets) incoming.set(target, (incoming.get(target) || 0) + 1);
      return targets.length ? targets.map((target) => [op, target]) : [[op, null]];
    });
    const taken = new Map();
    for (const [op, target] of pairs) {
      const [y0, y1] = box(op);
      const middle = (y0 + y1) / 2;
      const path = document.createElementNS(SVG, "path");
      const isLit = op.classList.contains("lit") && (!target || target.classList.contains("lit") || !!target.querySelector(".lit"));
      path.setAttribute("class", `ribbon ${fateOf(op)}${target ? "" : " ends"}${isLit ? " lit" : ""}`);
      if (target) {
        const [t0, t1] = box(target);
        const n = incoming.get(target);
        const at = taken.get(target) || 0;
        taken.set(target, at + 1);
        const [a, b] = [t0 + ((t1 - t0) * at) / n, t0 + ((t1 - t0) * (at + 1)) / n];
        const c = width / 2;
        path.setAttribute("d", `M0 ${y0}C${c} ${y0} ${c} ${a} ${width} ${a}L${width} ${b}C${c} ${b} ${c} ${y1} 0 ${y1}Z`);
      } else {
        path.setAttribute("d", `M0 ${y0}L${width * 0.45} ${middle}L0 ${y1}Z`);
      }
      svg.append(path);
    }
    for (const unit of units.filter((one) => !incoming.has(one))) {
      const [t0, t1] = box(unit);
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("class", `ribbon ${fateOf(unit)} ends${unit.classList.contains("lit") ? " lit" : ""}`);
      path.setAttribute("d", `M${width} ${t0}L${width * 0.55} ${(t0 + t1) / 2}L${width} ${t1}Z`);
      svg.append(path);
    }
    gutter.replaceChildren(svg);
  };
  let waiting = false;
  const drawAgain = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      near.forEach(draw);
    });
  };
  const groups = all("#alignment .group");
  if ("IntersectionObserver" in window && groups.length) {
    const seen = new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) {
        if (isIntersecting) near.add(target);
        else near.delete(target);
      }
      drawAgain();
    }, { rootMargin: "200px" });
    groups.forEach((group) => seen.observe(group));
    new ResizeObserver(drawAgain).observe(byId("alignment"));
  }
  for (const control of all("#alignment .views input")) control.addEventListener("change", drawAgain);

  // ------------------------------------------------------------ long code
  const unpacking = new Map();
  const unpack = (pre) => {
    if (!pre.dataset.packed || !("DecompressionStream" in window)) return null;
    if (!unpacking.has(pre)) unpacking.set(pre, unpacked(pre, pre.dataset.packed));
    return unpacking.get(pre);
  };
  const unpacked = async (pre, packed) => {
    const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const words = await new Response(stream).text();
    const code = pre.querySelector("code");
    const start = code.textContent.length;
    code.append(words.slice(start));
    const cut = pre.parentElement.querySelector(".cut");
    if (cut) cut.remove();
    delete pre.dataset.packed;
  };
  document.addEventListener("toggle", (event) => {
    if (event.target.open) all("pre[data-packed]", event.target).forEach(unpack);
  }, true);

  // ------------------------------------------------------------ what differs between two pieces of code
  const MOST_CELLS = 4e6;
  const linesOf = async (anchor) => {
    const pre = document.querySelector(`#${CSS.escape(anchor)} pre`);
    await unpack(pre);
    return pre.querySelector("code").textContent.replace(/\n$/, "").split("\n");
  };
  // Rows of [sign, line]; null where the pieces differ in so much that finding the least would take too long.
  const compared = (left, right) => {
    let start = 0;
    while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
    let end = 0;
    while (end < left.length - start && end < right.length - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
    const [a, b] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
    if (a.length * b.length > MOST_CELLS) return null;
    const width = b.length + 1;
    const longest = new Uint32Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        const at = i * width + j;
        longest[at] = a[i] === b[j] ? longest[at + width + 1] + 1 : Math.max(longest[at + width], longest[at + 1]);
      }
    }
    const rows = left.slice(0, start).map((line) => [" ", line]);
    let [i, j] = [0, 0];
    while (i < a.length || j < b.length) {
      const at = i * width + j;
      if (i < a.length && j < b.length && a[i] === b[j]) (rows.push([" ", a[i]]), i += 1, j += 1);
      else if (j === b.length || (i < a.length && longest[at + width] >= longest[at + 1])) (rows.push(["-", a[i]]), i += 1);
      else (rows.push(["+", b[j]]), j += 1);
    }
    return rows.concat(left.slice(left.length - end).map((line) => [" ", line]));
  };
  const CONTEXT = 3;
  const showRows = (rows, place) => {
    const near = rows.map((_, at) => rows.slice(Math.max(at - CONTEXT, 0), at + CONTEXT + 1).some(([sign]) => sign !== " "));
    place.replaceChildren();
    rows.forEach(([sign, line], at) => {
      if (near[at]) place.append(make("span", { class: sign === "-" ? "minus" : sign === "+" ? "plus" : "" }, `${sign} ${line}\n`));
      else if (at === 0 || near[at - 1]) place.append(make("span", { class: "muted" }, "…\n"));
    });
  };
  const compare = async () => {
    const [left, right] = await Promise.all(["compare-left", "compare-right"].map((id) => linesOf(byId(id).value)));
    const [place, summary] = [byId("compare-result"), byId("compare-summary")];
    const rows = compared(left, right);
    place.hidden = !rows;
    const count = (sign) => (rows || []).filter((row) => row[0] === sign).length;
    summary.textContent = rows
      ? `${count("-")} lines removed, ${count("+")} added, ${count(" ")} equal`
      : `Too long to compare here: ${left.length.toLocaleString("en")} and ${right.length.toLocaleString("en")} lines.`;
    if (rows) showRows(rows, place);
  };
  const compareButton = byId("compare");
  if (compareButton) {
    const right = byId("compare-right");
    right.selectedIndex = Math.min(2, right.length - 1);
    compareButton.addEventListener("click", compare);
  }

  // ------------------------------------------------------------ keys
  const cards = () => all("#rewrites .card:not(.filtered)");
  const step = (by) => {
    const found = cards();
    const active = found.indexOf(document.activeElement && document.activeElement.closest("#rewrites .card"));
    const start = active < 0 && by < 0 ? found.length : active;
    const next = found[Math.min(Math.max(start + by, 0), found.length - 1)];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "start" });
    requestAnimationFrame(() => next.scrollIntoView({ block: "start" }));
  };
  const toggle = (id) => {
    const control = byId(id);
    if (control) control.click();
  };
  const focusSearch = () => {
    if (!box) return;
    box.focus();
    box.select();
  };
  const help = byId("help");
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    c: () => toggle("changed-only"),
    u: () => toggle(byId("unified") && byId("unified").checked ? "side-by-side" : "unified"),
    "/": focusSearch,
    Escape: () => (pin(""), share("")),
    "?": () => help && help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (help && help.open)) return;
    const inside = element(event.target);
    if (inside && inside.closest("textarea, select, input:not([type=checkbox], [type=radio])")) return;
    const act = keys[event.key];
    if (!act || (event.key === "Escape" && !pinned)) return;
    event.preventDefault();
    act();
  });
  const helpButton = byId("help-button");
  if (helpButton && help) helpButton.addEventListener("click", () => help.showModal());

  // ------------------------------------------------------------ Perfetto
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
    for (const part of all("details:not(.code, .help)")) part.open = true;
  });
  if (location.hash) reveal();
})();
