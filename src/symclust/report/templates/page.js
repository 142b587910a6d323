"use strict";
(() => {
  const root = document.documentElement;
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
  const redraws = [];  // what has to be drawn again in the other colours

  // Light and dark -----------------------------------------------------------------------------------------
  const toggle = document.querySelector("[data-theme-toggle]");
  const showTheme = () => {
    toggle.textContent = isDark() ? "Light" : "Dark";
    toggle.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
    toggle.setAttribute("aria-pressed", String(isDark()));
    redraws.forEach((redraw) => redraw());
  };
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("symclust-theme", root.dataset.theme); } catch { /* private windows have no memory */ }
    showTheme();
  });
  try {
    const remembered = localStorage.getItem("symclust-theme");
    if (remembered === "light" || remembered === "dark") root.dataset.theme = remembered;
  } catch { /* as above */ }
  prefersDark.addEventListener("change", showTheme);

  // Trees: search, fold and unfold -------------------------------------------------------------------------
  const prepareTree = (tools) => {
    const tree = tools.parentElement.querySelector("[data-tree]");
    const told = tools.querySelector("output");
    const folds = [...tree.querySelectorAll("details")];
    const atStart = folds.map((fold) => fold.open);
    const items = [...tree.querySelectorAll("li")].reverse();  // children before their parents
    const ownText = (item) => (item.querySelector(":scope > details > summary, :scope > .leaf") || item).textContent.toLowerCase();
    const texts = new Map(items.map((item) => [item, ownText(item)]));
    const search = (text) => {
      const wanted = text.trim().toLowerCase();
      if (!wanted) {
        items.forEach((item) => { item.hidden = false; });
        folds.forEach((fold, i) => { fold.open = atStart[i]; });
        told.textContent = "";
        return;
      }
      const holds = new Set();
      let found = 0;
      items.forEach((item) => {
        const own = texts.get(item).includes(wanted);
        found += own;
        const below = [...item.querySelectorAll("li")].some((child) => holds.has(child));
        if (own || below) holds.add(item);
        const fold = item.querySelector(":scope > details");
        if (fold && below) fold.open = true;
      });
      // What is below a match stays, so that it can be unfolded.
      const inside = (item) => { let at = item; while (at && at !== tree) { if (at.matches("li") && texts.get(at).includes(wanted)) return true; at = at.parentElement; } return false; };
      items.forEach((item) => { item.hidden = !holds.has(item) && !inside(item); });
      told.textContent = found === 0 ? "Nothing found" : found === 1 ? "1 line found" : `${found} lines found`;
    };
    tools.hidden = false;
    tools.querySelector("[data-tree-search]").addEventListener("input", (event) => search(event.target.value));
    tools.querySelector("[data-tree-open]").addEventListener("click", () => folds.forEach((fold) => { fold.open = true; }));
    tools.querySelector("[data-tree-close]").addEventListener("click", () => folds.forEach((fold) => { fold.open = false; }));
  };
  document.querySelectorAll("[data-tree-tools]").forEach(prepareTree);

  // Segments: from the image to its mean colours -----------------------------------------------------------
  document.querySelectorAll("[data-segments]").forEach((figure) => {
    figure.querySelector(".tools").hidden = false;
    figure.querySelector("input").addEventListener("input", (event) => {
      figure.querySelector(".means").style.opacity = event.target.value / 100;
    });
  });

  // The map: hover, search, zoom and move ------------------------------------------------------------------
  const numbers = (text, Kind) => new Kind(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
  const prepareMap = (figure) => {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const canvas = figure.querySelector("canvas");
    const told = figure.querySelector("output");
    const search = figure.querySelector("[data-map-search]"), chooser = figure.querySelector("[data-map-show]");
    const pen = canvas.getContext("2d");
    const x = numbers(data.x, Uint16Array), y = numbers(data.y, Uint16Array), radius = numbers(data.radius, Uint16Array);
    const group = numbers(data.group, Uint16Array);
    const lines = numbers(data.lines, Uint32Array), widths = numbers(data.widths, Uint16Array);
    const order = data.order ? numbers(data.order, Uint32Array) : Uint32Array.from(x, (_, i) => i);
    const lower = data.names.map((name) => name.toLowerCase());
    const FULL = 4095, top = y.reduce((a, b) => Math.min(a, b), FULL), bottom = y.reduce((a, b) => Math.max(a, b), 0);
    const edge = radius.reduce((a, b) => Math.max(a, b), 0) + 40;
    const tall = Math.max(bottom - top + 2 * edge, FULL / 4), first = top - edge;
    const whole = { x: 0, y: first, size: FULL };
    const MOST_NAMES = 150;
    let view = { ...whole }, wanted = "", only = -1, boxes = [];
    const isShown = (i) => (only < 0 || group[i] === only) && (!wanted || lower[i].includes(wanted));
    const scale = () => canvas.clientWidth / view.size;
    const at = (i) => [(x[i] - view.x) * scale(), (y[i] - view.y) * scale()];
    const isNarrow = () => canvas.clientWidth < 500;
    const size = (i) => Math.max(radius[i] * scale(), isNarrow() ? 1.2 : 1.5) * (data.widths ? 1 : Math.min(1, 1.6 / Math.sqrt(scale() * FULL / canvas.clientWidth)));
    const draw = () => {
      const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
      if (!width) return;
      const height = width * tall / FULL;
      canvas.style.height = `${height}px`;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      const style = getComputedStyle(root), ink = style.getPropertyValue("--ink"), paper = style.getPropertyValue("--paper");
      pen.fillStyle = paper;
      pen.fillRect(0, 0, width, height);
      drawLines(ink);
      const isPart = only >= 0 || wanted;
      for (const shown of isPart ? [false, true] : [true]) {
        data.groups.forEach((one, g) => {
          pen.globalAlpha = shown ? (x.length > 20000 ? 0.7 : 1) : 0.12;
          pen.fillStyle = one.colour;
          pen.beginPath();
          for (let i = 0; i < x.length; i += 1) {
            if (group[i] !== g || (isPart && isShown(i) !== shown)) continue;
            const [px, py] = at(i);
            if (px < -99 || py < -99 || px > width + 99 || py > height + 99) continue;
            const r = size(i) * (isPart && shown && wanted ? 1.8 : 1);
            pen.moveTo(px + r, py);
            pen.arc(px, py, r, 0, 7);
          }
          pen.fill();
          if (x.length <= 2000) { pen.globalAlpha = 1; pen.lineWidth = 0.6; pen.strokeStyle = paper; pen.stroke(); }
        });
      }
      pen.globalAlpha = 1;
      drawLabels(width, height, ink, paper);
      drawNames(width, height, ink, paper);
      figure.dataset.mapView = [view.x, view.y, view.size].map(Math.round).join(" ");
    };
    const drawLines = (ink) => {
      if (!lines.length) return;
      pen.strokeStyle = ink;
      pen.globalAlpha = widths.length ? 0.25 : Math.min(0.4, Math.max(0.07, 6 / Math.sqrt(lines.length / 2)));
      pen.lineWidth = 0.7;
      pen.beginPath();
      for (let e = 0; e < lines.length; e += 2) {
        if (widths.length) { pen.stroke(); pen.beginPath(); pen.lineWidth = widths[e / 2]; }
        pen.moveTo(...at(lines[e]));
        pen.lineTo(...at(lines[e + 1]));
      }
      pen.stroke();
      pen.globalAlpha = 1;
    };
    const drawLabels = (width, height, ink, paper) => {
      pen.font = `600 ${isNarrow() ? 11 : 13}px system-ui, sans-serif`;
      pen.textBaseline = "middle";
      pen.lineJoin = "round";
      boxes = [];
      const order = data.groups.map((_, g) => g).sort((a, b) => data.groups[b].size - data.groups[a].size);
      order.forEach((g) => {
        let shown = data.groups[g].label;
        if (!shown || (only >= 0 && g !== only)) return;
        const [px, py] = at(data.groups[g].at);
        if (px < 0 || py < 0 || px > width || py > height) return;
        while (shown.length > 3 && pen.measureText(shown).width > Math.max(width / 3, 90)) shown = `${shown.slice(0, -2)}…`;
        const w = pen.measureText(shown).width;
        const left = Math.min(Math.max(px - w / 2, 4), width - w - 4);
        const clear = (row) => !boxes.some((b) => left < b.right + 6 && left + w > b.left - 6 && Math.abs(row - b.row) < 16);
        const row = [0, -17, 17, -34, 34].map((d) => Math.min(Math.max(py + d, 10), height - 10)).find(clear);
        if (row === undefined) return;  // labels of the largest come first; the others are there after a zoom
        boxes.push({ left, right: left + w, row, g });
        pen.strokeStyle = paper;
        pen.lineWidth = 4;
        pen.strokeText(shown, left, row);
        pen.fillStyle = ink;
        pen.fillText(shown, left, row);
      });
      figure.dataset.labels = boxes.length;
    };
    // Names of the dots in view, if these are few: those with most links first, as long as there is room.
    const drawNames = (width, height, ink, paper) => {
      const inView = (i) => { const [px, py] = at(i); return px >= 0 && py >= 0 && px <= width && py <= height; };
      const seen = data.names.length ? order.filter((i) => isShown(i) && inView(i)) : [];
      let drawn = 0;
      pen.font = `${isNarrow() ? 10 : 11}px system-ui, sans-serif`;
      pen.lineWidth = 3;
      if (seen.length <= MOST_NAMES) seen.forEach((i) => {
        const [px, py] = at(i), shown = data.names[i].length > 24 ? `${data.names[i].slice(0, 23)}…` : data.names[i];
        const w = pen.measureText(shown).width, left = px + size(i) + 3;
        if (left + w > width - 2 || boxes.some((b) => left < b.right + 3 && left + w > b.left - 3 && Math.abs(py - b.row) < 13)) return;
        boxes.push({ left, right: left + w, row: py });
        pen.strokeText(shown, left, py);
        pen.globalAlpha = 0.8;
        pen.fillText(shown, left, py);
        pen.globalAlpha = 1;
        drawn += 1;
      });
      figure.dataset.names = drawn;
    };
    const hold = () => {
      view.size = Math.min(Math.max(view.size, FULL / 60), FULL);
      view.x = Math.min(Math.max(view.x, 0), FULL - view.size);
      view.y = Math.min(Math.max(view.y, first), first + tall * (1 - view.size / FULL));
      canvas.classList.toggle("zoomed", view.size < FULL);
    };
    const zoom = (factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) => {
      const before = view.size, width = canvas.clientWidth;
      view.size = Math.min(Math.max(view.size * factor, FULL / 60), FULL);
      view.x += px / width * (before - view.size);
      view.y += py / width * (before - view.size);
      hold();
      draw();
    };
    const move = (dx, dy) => { view.x += dx / scale(); view.y += dy / scale(); hold(); draw(); };
    const all = () => { view = { ...whole }; hold(); draw(); };
    const about = (i) => {
      const one = data.groups[group[i]];
      const where = one.label || `no ${chooser.dataset.noun || "cluster"}`;
      if (data.widths) return `${where}: ${one.size.toLocaleString("en")} ${data.noun}s`;
      return `${data.names.length ? data.names[i] : `${data.noun} ${i}`} — ${where}`;
    };
    const nearest = (px, py) => {
      let best = -1, least = Infinity;
      for (let i = 0; i < x.length; i += 1) {
        const [a, b] = at(i), d = Math.hypot(a - px, b - py) - size(i);
        if (d < least && isShown(i)) { least = d; best = i; }
      }
      return least < 12 ? best : -1;
    };
    const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    const fingers = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      canvas.focus({ preventScroll: true });
      fingers.set(event.pointerId, place(event));
      if (view.size < FULL) canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [px, py] = place(event), before = fingers.get(event.pointerId);
      if (before) {
        if (fingers.size === 1) move(before[0] - px, before[1] - py);
        fingers.set(event.pointerId, [px, py]);
        return;
      }
      const i = nearest(px, py);
      told.textContent = i < 0 ? "\u00a0" : about(i);
    });
    const lift = (event) => fingers.delete(event.pointerId);
    ["pointerup", "pointercancel", "lostpointercapture"].forEach((kind) => canvas.addEventListener(kind, lift));
    canvas.addEventListener("dblclick", (event) => zoom(0.5, ...place(event)));
    canvas.addEventListener("wheel", (event) => {
      if (document.activeElement !== canvas && !event.ctrlKey) return;  // without a click, the wheel moves the page
      event.preventDefault();
      zoom(event.deltaY < 0 ? 0.8 : 1.25, ...place(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const does = {
        "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), "0": all, Home: all,
        ArrowLeft: () => move(-40, 0), ArrowRight: () => move(40, 0), ArrowUp: () => move(0, -40), ArrowDown: () => move(0, 40),
      }[event.key];
      if (!does || (event.key.startsWith("Arrow") && view.size >= FULL)) return;
      event.preventDefault();
      does();
    });
    const buttons = { in: () => zoom(0.6), out: () => zoom(1 / 0.6), all };
    figure.querySelectorAll("[data-map-zoom]").forEach((button) => button.addEventListener("click", buttons[button.dataset.mapZoom]));
    if (search) {
      search.addEventListener("input", () => {
        wanted = search.value.trim().toLowerCase();
        const found = wanted ? lower.filter((name) => name.includes(wanted)).length : 0;
        told.textContent = wanted ? (found === 1 ? about(lower.findIndex((name) => name.includes(wanted))) : `${found.toLocaleString("en")} found`) : "\u00a0";
        draw();
      });
    }
    data.groups.forEach((one, g) => { if (one.label) chooser.append(new Option(one.label, g)); });
    chooser.addEventListener("change", () => {
      only = chooser.value === "" ? -1 : Number(chooser.value);
      told.textContent = only < 0 ? "\u00a0" : `${data.groups[only].label}: ${data.groups[only].size.toLocaleString("en")} ${data.noun}s`;
      draw();
    });
    figure.querySelector(".tools").hidden = canvas.hidden = false;
    redraws.push(draw);
    let drawnAt = 0;
    new ResizeObserver(() => { if (canvas.clientWidth !== drawnAt) { drawnAt = canvas.clientWidth; draw(); } }).observe(canvas);
    draw();
  };
  document.querySelectorAll("[data-map]").forEach(prepareMap);

  // The similarity matrix: zoom and move -------------------------------------------------------------------
  const mix = (a, b, t) => a.map((v, i) => v + (b[i] - v) * t);
  const palette = (signed) => {
    const paper = isDark() ? [22, 26, 32] : [255, 255, 255];
    const middle = isDark() ? [47, 127, 184] : [107, 174, 214];
    const full = isDark() ? [232, 246, 255] : [8, 48, 107];
    const low = isDark() ? [253, 184, 99] : [179, 88, 6];
    const along = (t) => (t < 0.5 ? mix(paper, middle, 2 * t) : mix(middle, full, 2 * t - 1));
    return Array.from({ length: 256 }, (_, v) =>
      !signed ? along(v / 255) : v >= 128 ? along((v - 128) / 127) : mix(paper, low, (128 - v) / 127));
  };

  const prepareMatrix = (figure) => {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const picture = figure.querySelector("img");
    const canvas = figure.querySelector("canvas");
    const told = figure.querySelector("output");
    const pen = canvas.getContext("2d");
    const tiles = document.createElement("canvas");
    const ends = [...data.starts.slice(1), data.n];
    const smallest = Math.max(data.n / picture.naturalWidth * 8, Math.min(data.n, 4));  // samples in view at the closest
    let levels = null, gutter = 0, side = 0;
    let view = { x: 0, y: 0, size: data.n };

    const readLevels = () => {
      tiles.width = picture.naturalWidth;
      tiles.height = picture.naturalHeight;
      const context = tiles.getContext("2d", { willReadFrequently: true });
      context.drawImage(picture, 0, 0);
      const pixels = context.getImageData(0, 0, tiles.width, tiles.height).data;
      levels = new Uint8Array(tiles.width * tiles.height);
      for (let i = 0; i < levels.length; i += 1) levels[i] = 255 - pixels[4 * i];  // the picture is black on white
    };
    const colour = () => {
      const colours = palette(data.signed);
      const context = tiles.getContext("2d");
      const image = context.createImageData(tiles.width, tiles.height);
      for (let i = 0; i < levels.length; i += 1) {
        const [r, g, b] = colours[levels[i]];
        image.data.set([r, g, b, 255], 4 * i);
      }
      context.putImageData(image, 0, 0);
    };
    const hold = () => {
      view.size = Math.min(Math.max(view.size, smallest), data.n);
      view.x = Math.min(Math.max(view.x, 0), data.n - view.size);
      view.y = Math.min(Math.max(view.y, 0), data.n - view.size);
    };
    const draw = () => {
      hold();
      const ratio = window.devicePixelRatio || 1;
      const width = canvas.clientWidth;
      if (!width) return;
      const font = "12px system-ui, sans-serif";
      pen.font = font;
      gutter = Math.min(110, 14 + Math.max(...data.names.map((name) => pen.measureText(name).width), 0));
      side = width - gutter;
      canvas.style.height = `${side}px`;  // tiles stay square beside the names
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(side * ratio);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.font = font;
      const style = getComputedStyle(root);
      pen.fillStyle = style.getPropertyValue("--paper");
      pen.fillRect(0, 0, width, side);
      pen.imageSmoothingEnabled = false;
      const scale = tiles.width / data.n;
      pen.drawImage(tiles, view.x * scale, view.y * scale, view.size * scale, view.size * scale, gutter, 0, side, side);
      drawFrames(style);
      canvas.classList.toggle("zoomed", view.size < data.n);
      figure.dataset.view = [view.x, view.y, view.size].map((v) => Math.round(v)).join(" ");
    };
    const fitting = (name) => {
      let shown = name;
      while (shown.length > 1 && pen.measureText(shown).width > gutter - 12) shown = `${shown.slice(0, -2)}…`;
      return shown;
    };
    const drawFrames = (style) => {
      const at = (sample, from) => (sample - from) / view.size * side;
      pen.save();
      pen.beginPath();
      pen.rect(gutter, 0, side, side);
      pen.clip();
      pen.strokeStyle = "#E69F00";
      pen.lineWidth = 1.2;
      data.starts.forEach((start, c) => {
        const length = (ends[c] - start) / view.size * side;
        if (length > 2 && data.clusters[c] >= 0) pen.strokeRect(gutter + at(start, view.x), at(start, view.y), length, length);
      });
      pen.restore();
      pen.textBaseline = "middle";
      pen.textAlign = "right";
      let last = -20;
      data.starts.forEach((start, c) => {
        const top = Math.max(at(start, view.y), 0), bottom = Math.min(at(ends[c], view.y), side);
        const y = (top + bottom) / 2;
        if (bottom - top < 3 || y - last < 14) return;
        last = y;
        pen.fillStyle = data.colours[c];
        pen.fillRect(gutter - 5, top + 1, 3, bottom - top - 2);
        pen.fillStyle = style.getPropertyValue("--ink");
        pen.fillText(fitting(data.names[c]), gutter - 9, y);
      });
    };
    const zoom = (factor, px = gutter + side / 2, py = side / 2) => {
      const fx = (px - gutter) / side, fy = py / side;
      const x = view.x + fx * view.size, y = view.y + fy * view.size;
      view.size = Math.min(Math.max(view.size * factor, smallest), data.n);
      view.x = x - fx * view.size;
      view.y = y - fy * view.size;
      draw();
      say();
    };
    const move = (dx, dy) => { view.x += dx; view.y += dy; draw(); say(); };
    const whole = () => { view = { x: 0, y: 0, size: data.n }; draw(); say(); };
    const clusterAt = (sample) => {
      let c = data.starts.length - 1;
      while (c > 0 && data.starts[c] > sample) c -= 1;
      return c;
    };
    const named = (c) => (data.clusters[c] < 0 ? `no ${data.noun}` : `${data.noun} ${data.names[c]}`);
    const say = () => {
      if (view.size >= data.n) { told.textContent = "The whole matrix"; return; }
      const first = clusterAt(Math.floor(view.y)), last = clusterAt(Math.min(Math.ceil(view.y + view.size), data.n) - 1);
      const rows = first === last ? named(first) : `${named(first)} to ${named(last)}`;
      told.textContent = `${Math.round(view.size).toLocaleString("en")} of ${data.n.toLocaleString("en")} rows: ${rows}`;
    };
    const describe = (px, py) => {
      if (px < gutter || px >= gutter + side || py < 0 || py >= side) return;
      const column = Math.floor(view.x + (px - gutter) / side * view.size), row = Math.floor(view.y + py / side * view.size);
      const a = clusterAt(row), b = clusterAt(column);
      const who = data.samples.length ? `${data.samples[row]} and ${data.samples[column]}: ` : "";
      const where = a === b ? `inside ${named(a)}` : `between ${named(a)} and ${named(b)}`;
      const mean = data.means.length && data.clusters[a] >= 0 && data.clusters[b] >= 0 ? `, ${data.what} ${data.means[a][b]}` : "";
      told.textContent = who + where + mean;
    };

    const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    const fingers = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      canvas.focus({ preventScroll: true });
      fingers.set(event.pointerId, place(event));
      if (view.size < data.n) canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      const before = fingers.get(event.pointerId);
      if (!before) { describe(x, y); return; }
      if (fingers.size === 2) {
        const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
        const was = Math.hypot(before[0] - other[0], before[1] - other[1]), is = Math.hypot(x - other[0], y - other[1]);
        if (is > 0) zoom(was / is, (x + other[0]) / 2, (y + other[1]) / 2);
      } else {
        move((before[0] - x) / side * view.size, (before[1] - y) / side * view.size);
      }
      fingers.set(event.pointerId, [x, y]);
    });
    const lift = (event) => fingers.delete(event.pointerId);
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("lostpointercapture", lift);
    canvas.addEventListener("dblclick", (event) => zoom(0.5, ...place(event)));
    canvas.addEventListener("wheel", (event) => {
      // Without a click into the matrix the wheel moves the page, as everywhere else.
      if (document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 0.8 : 1.25, ...place(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = view.size / 8;
      const does = {
        "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), "−": () => zoom(1 / 0.7), "0": whole, Home: whole,
        ArrowLeft: () => move(-step, 0), ArrowRight: () => move(step, 0), ArrowUp: () => move(0, -step), ArrowDown: () => move(0, step),
      }[event.key];
      if (!does || (event.key.startsWith("Arrow") && view.size >= data.n)) return;  // the page scrolls
      event.preventDefault();
      does();
    });
    const buttons = { in: () => zoom(0.6), out: () => zoom(1 / 0.6), all: whole };
    figure.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", buttons[button.dataset.zoom]));
    const chooser = figure.querySelector("[data-zoom-to]");
    data.names.forEach((name, c) => chooser.append(new Option(name, c)));
    chooser.addEventListener("change", () => {
      if (chooser.value === "") { whole(); return; }
      const c = Number(chooser.value), length = ends[c] - data.starts[c];
      view.size = length * 1.2;
      hold();
      view.x = view.y = data.starts[c] - (view.size - length) / 2;
      draw();
      told.textContent = `In the middle: ${named(c)}, ${length.toLocaleString("en")} rows`;
    });

    readLevels();
    colour();
    canvas.hidden = false;
    picture.hidden = true;
    figure.querySelector(".tools").hidden = false;
    redraws.push(() => { colour(); draw(); });
    let drawnAt = 0;
    new ResizeObserver(() => { if (canvas.clientWidth !== drawnAt) { drawnAt = canvas.clientWidth; draw(); } }).observe(canvas);
    draw();
  };
  document.querySelectorAll("[data-matrix]").forEach((figure) => {
    const picture = figure.querySelector("img");
    picture.decode().then(() => prepareMatrix(figure), () => {});  // without it, the plain picture stays
  });

  showTheme();
})();
