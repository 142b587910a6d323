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
