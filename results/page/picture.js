"use strict";
// The lanes on a canvas: what is in sight, and no more than one mark of a kind for each pixel, so that a hundred thousand
// operations pan as smoothly as ten. It draws what results/lanes packs.

const KIND = {client: 0, node: 1, resource: 2, faults: 3};
const SORT = {believed: 0, served: 1, stay: 2};
const MARK = ["", "rejected", "stale"];
const OUTCOME = ["open", "invoke", "ok", "fail", "info"];
const FLAG = {witness: 1, open: 2, doubtful: 4};
const ROW = [70, 20, 48, 30];
const GUTTER = 92, AXIS = 26, TOP = 18, TALLEST = 640, LEAST_SPAN = 1000;

function unpackColumns(packed) {
  const n = packed.n, columns = {n};
  for (const [name, list] of Object.entries(packed)) if (name !== "n") columns[name] = list;
  const zeros = new Uint8Array(n);
  const from = new Float64Array(n), to = new Float64Array(n);
  for (let i = 0, at = 0; i < n; i++) {
    at += columns.from ? columns.from[i] : 0;
    from[i] = at;
    to[i] = at + (columns.to ? columns.to[i] : 0);
  }
  return {n, from, to, column: name => columns[name] || zeros};
}

// firstAtLeast finds the place of the first of an ascending list of indexes whose time is not before t.
function firstAtLeast(list, time, t, low = 0) {
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[list[middle]] < t) low = middle + 1; else high = middle;
  }
  return low;
}

function exactTime(ns) {
  const text = String(Math.round(ns)).padStart(10, "0");
  return text.slice(0, -9) + "." + text.slice(-9) + " s";
}

function lengthOf(ns) {
  if (ns >= 1e9) return +(ns / 1e9).toPrecision(4) + " s";
  if (ns >= 1e6) return +(ns / 1e6).toPrecision(4) + " ms";
  if (ns >= 1e3) return +(ns / 1e3).toPrecision(4) + " µs";
  return Math.round(ns) + " ns";
}

// LanePicture draws this.lanes, this.bars and this.ticks from this.from to this.to on this.canvas.
class LanePicture {
  theme() {
    const style = getComputedStyle(document.documentElement);
    this.ink = name => style.getPropertyValue("--" + name).trim();
    this.paint = Object.fromEntries(["paper", "ink", "dim", "rule", "grid", "bad", "band", "on", "focus", "c0", "c1", "c2", "c3", "c4", "c5"].map(n => [n, this.ink(n)]));
  }

  resize() {
    let top = TOP;
    this.rows = this.lanes.filter(lane => !this.hidden.has(lane.at)).map(lane => {
      const row = {lane, top, height: ROW[lane.kind]};
      top += row.height;
      return row;
    });
    this.rowOf = new Map(this.rows.map(row => [row.lane.at, row]));
    this.total = top + AXIS;
    this.width = Math.max(this.scroller.clientWidth, 200);
    this.height = Math.min(this.total, TALLEST);
    this.scroller.style.height = this.height + "px";
    this.spacer.style.height = this.total - this.height + "px";
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = this.height + "px";
    this.ratio = ratio;
    this.draw();
  }

  // draw asks for one picture in the next frame.
  draw() {
    if (this.asked || this.closed) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; if (!this.closed) this.picture(); });
  }

  x(t) { return GUTTER + (t - this.from) / (this.to - this.from) * (this.width - GUTTER); }

  picture() {
    const g = this.canvas.getContext("2d"), paint = this.paint;
    this.canvas.dataset.from = this.from;
    this.canvas.dataset.to = this.to;
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.fillStyle = paint.paper;
    g.fillRect(0, 0, this.width, this.height);
    g.save();
    g.beginPath();
    g.rect(GUTTER, 0, this.width - GUTTER, this.height - AXIS);
    g.clip();
    g.translate(0, -this.scroller.scrollTop);
    const sight = this.rows.filter(r => r.top + r.height > this.scroller.scrollTop && r.top < this.scroller.scrollTop + this.height);
    this.grid(g);
    for (const row of sight) this.bands(g, row);
    this.overlaps(g);
    for (const row of sight) this.leases(g, row);
    this.links(g);
    for (const row of sight) this.operations(g, row);
    this.line(g);
    g.restore();
    this.names(g, sight);
    this.axis(g);
    this.frames = (this.frames || 0) + 1;
    this.firstPicture ??= performance.now();
  }

  bands(g, row) {
    for (const band of row.lane.bands) {
      if (band.to < this.from || band.from > this.to) continue;
      const left = Math.max(this.x(band.from), GUTTER), right = Math.min(this.x(band.to), this.width);
      g.globalAlpha = 0.2;
      g.fillStyle = this.paint.band;
      g.fillRect(left, row.top + 1, Math.max(right - left, 1.5), row.height - 2);
      g.globalAlpha = 1;
      if (row.lane.kind !== KIND.node) this.text(g, band.kind + " of " + band.subject, left + 3, row.top + row.height - 5, this.paint.dim, right - left - 4);
    }
  }

  overlaps(g) {
    for (const story of this.data.stories) {
      if (!story.overlap || story.overlap[1] < this.from || story.overlap[0] > this.to) continue;
      const left = Math.max(this.x(story.overlap[0]), GUTTER), right = Math.min(this.x(story.overlap[1]), this.width);
      const clients = this.rows.filter(r => r.lane.kind === KIND.client &&
        r.lane.bars[SORT.believed].some(i => this.bars.flags[i] & FLAG.witness && this.bars.to[i] > story.overlap[0] && this.bars.from[i] < story.overlap[1]));
      if (!clients.length) continue;
      const top = clients[0].top, bottom = clients.at(-1).top + clients.at(-1).height;
      g.globalAlpha = 0.14;
      g.fillStyle = this.paint.bad;
      g.fillRect(left, top, Math.max(right - left, 1.5), bottom - top);
      g.globalAlpha = 1;
      this.text(g, "two holders, " + lengthOf(story.overlap[1] - story.overlap[0]), left + 3, top - 5 < 12 ? 12 : top - 5, this.paint.bad, 300);
    }
  }

  leases(g, row) {
    const {bars, paint} = this, top = row.top;
    const places = row.lane.kind === KIND.client ? [[top + 29, 16], [top + 48, 7], [0, 0]] : [[0, 0], [0, 0], [top + 4, 12]];
    for (const sort of [SORT.believed, SORT.served, SORT.stay]) {
      const list = row.lane.bars[sort], reach = row.lane.reach[sort], [y, height] = places[sort];
      let at = 0, high = list.length;
      while (at < high) { const m = (at + high) >> 1; if (reach[m] < this.from) at = m + 1; else high = m; }
      while (at < list.length && bars.from[list[at]] <= this.to) {
        const i = list[at], left = this.x(bars.from[i]), right = this.x(bars.to[i]);
        if (right - left < 1) {
          at = this.crowd(g, list, at, sort, y, height);
          continue;
        }
        const x = Math.max(left, GUTTER - 2), width = Math.min(right, this.width + 2) - x;
        if (right >= GUTTER) this.lease(g, i, sort, x, y, width, height);
        at++;
      }
    }
    if (row.lane.kind === KIND.client) this.gaps(g, row, places[SORT.served]);
  }

  // crowd draws leases that are too short to be told apart as one stretch, and returns the place of the next that is not.
  crowd(g, list, at, sort, y, height) {
    const {bars} = this, perPixel = (this.to - this.from) / (this.width - GUTTER), first = list[at];
    let end = bars.from[first], mixed = false;
    while (at < list.length && bars.from[list[at]] <= Math.min(end + perPixel, this.to) && bars.to[list[at]] - bars.from[list[at]] < perPixel) {
      const next = firstAtLeast(list, bars.from, bars.from[list[at]] + perPixel, at + 1), last = list[next - 1];
      end = bars.to[last];
      mixed = mixed || bars.client[list[at]] !== bars.client[first] || bars.client[last] !== bars.client[first];
      at = next;
    }
    const left = this.x(bars.from[first]);
    g.fillStyle = this.paint["c" + (mixed ? 5 : this.colours.get(this.texts[bars.client[first]]) ?? 5)];
    g.globalAlpha = 0.75;
    g.fillRect(left, y, Math.max(this.x(end) - left, 1), height);
    g.globalAlpha = 1;
    return at;
  }

  lease(g, i, sort, x, y, width, height) {
    const {bars, paint} = this, client = this.texts[bars.client[i]];
    g.globalAlpha = bars.flags[i] & FLAG.doubtful ? 0.5 : 1;
    g.fillStyle = paint["c" + (this.colours.get(client) ?? 5)];
    g.fillRect(x, y, width, height);
    g.globalAlpha = 1;
    if (sort === SORT.believed && bars.flags[i] & FLAG.witness) {
      g.strokeStyle = paint.bad;
      g.lineWidth = 2;
      g.strokeRect(x, y, width, height);
    }
    if (sort === SORT.served || width < 16) return;
    let text = client;
    if (sort === SORT.believed) text += " holds" + (this.data.several ? " " + this.texts[bars.lock[i]] : "") + (bars.fence[i] ? " #" + bars.fence[i] : "");
    this.text(g, text, x + 4, y + height / 2 + 4, paint.on, width - 6);
  }

  // gaps hatches, where it can be told, the time for which a client believes and the servers have nothing.
  gaps(g, row, [y, height]) {
    const {bars} = this, served = new Map();
    for (const i of row.lane.bars[SORT.served]) {
      if (bars.from[i] > this.to || bars.to[i] < this.from - (this.to - this.from) * 20) continue;
      served.set(bars.lease[i], i);
    }
    if (served.size > 400) return;
    for (const i of row.lane.bars[SORT.believed]) {
      if (bars.from[i] > this.to) break;
      const servers = served.get(bars.lease[i]);
      if (bars.to[i] < this.from || servers === undefined || bars.flags[servers] & FLAG.doubtful || bars.to[servers] >= bars.to[i]) continue;
      const left = Math.max(this.x(Math.max(bars.to[servers], bars.from[i])), GUTTER), right = Math.min(this.x(bars.to[i]), this.width);
      g.strokeStyle = this.paint.bad;
      g.lineWidth = 1.5;
      g.beginPath();
      for (let x = left; x < right; x += 5) { g.moveTo(x, y + height); g.lineTo(Math.min(x + 4, right), y); }
      g.stroke();
    }
  }

  // links lead from writes to what the resource made of them: of those that deserve attention, and of all if they are few.
  links(g) {
    const {ticks} = this, sight = this.inSight(this.witness);
    g.lineWidth = 1;
    if (sight.length > 60) return;
    for (const i of sight) {
      const cause = ticks.cause[i] - 1;
      if (cause < 0 || this.texts[ticks.op[i]] !== "write") continue;
      const from = this.rowOf.get(ticks.lane[cause]), to = this.rowOf.get(ticks.lane[i]);
      if (!from || !to) continue;
      g.strokeStyle = this.paint.bad;
      g.beginPath();
      g.moveTo(this.x(ticks.from[cause]), from.top + 45);
      g.lineTo(this.x(ticks.to[i]), to.top + (to.lane.kind === KIND.client ? 20 : 25));
      g.stroke();
    }
  }

  inSight(list) {
    return list.length < 2000 ? list.filter(i => this.ticks.to[i] >= this.from && this.ticks.from[i] <= this.to) : [];
  }

  // operations draws each kind of outcome by itself, so that a failure is never hidden behind a success.
  operations(g, row) {
    const {ticks, paint} = this, y = row.top + (row.lane.kind === KIND.client ? 20 : 25), perPixel = (this.to - this.from) / (this.width - GUTTER);
    let labelled = -Infinity;
    for (const kind of [...row.lane.ticks.keys()].sort((a, b) => a - b)) {
      const list = row.lane.ticks.get(kind), bad = kind >= 10 || kind === 3;
      g.strokeStyle = g.fillStyle = bad ? paint.bad : paint.ink;
      g.lineWidth = 1.5;
      let at = firstAtLeast(list, ticks.to, this.from);
      while (at < list.length) {
        const i = list[at], x = this.x(ticks.to[i]);
        if (x > this.width + 4) break;
        let next = firstAtLeast(list, ticks.to, ticks.to[i] + perPixel * 2, at + 1), last = i;
        if (next - at === 1) {
          this.glyph(g, kind, x, y, this.x(ticks.from[i]));
          at = next;
          continue;
        }
        while (next < list.length && ticks.to[list[next]] - ticks.to[last] < perPixel * 4 && ticks.to[list[next]] < this.to) {
          last = list[next];
          next = firstAtLeast(list, ticks.to, ticks.to[last] + perPixel * 2, next + 1);
        }
        g.fillRect(x - 0.5, y - 5, Math.max(this.x(ticks.to[last]) - x, 0) + 1.5, 10); // a stretch of many: glyphs would lie on one another
        at = next;
      }
    }
    if (row.lane.kind === KIND.node) return;
    const first = firstAtLeast(row.lane.all, ticks.to, this.from), last = firstAtLeast(row.lane.all, ticks.to, this.to);
    if (last - first > 300) return;
    for (const urgent of [true, false]) for (let at = first; at < last; at++) {
      const i = row.lane.all[at], mark = ticks.mark[i];
      if (urgent === Boolean(mark)) labelled = this.label(g, i, row, y, labelled);
    }
    row.labels = null;
  }

  label(g, i, row, y) {
    const {ticks, texts} = this, client = row.lane.kind === KIND.client;
    let text = (ticks.by[i] ? texts[ticks.by[i]] + " " : "") + texts[ticks.op[i]];
    if (ticks.version[i] && !client) text += " v" + ticks.version[i];
    if (ticks.fence[i] && texts[ticks.op[i]] === "write") text += " #" + ticks.fence[i];
    if (ticks.mark[i]) text = MARK[ticks.mark[i]] + ": " + text;
    g.font = "11px system-ui, sans-serif";
    const width = g.measureText(text).width, left = Math.min(this.x(ticks.to[i]) - width / 2, this.width - width - 2);
    row.labels = row.labels || [];
    if (left < GUTTER || row.labels.some(([a, b]) => left < b && left + width + 5 > a)) return;
    row.labels.push([left, left + width + 5]);
    g.fillStyle = ticks.mark[i] || ticks.outcome[i] === 3 ? this.paint.bad : this.paint.ink;
    g.fillText(text, left, client ? y - 8 : y - 9);
  }

  glyph(g, kind, x, y, from) {
    if (x - from > 3) { g.beginPath(); g.moveTo(Math.max(from, GUTTER - 2), y); g.lineTo(x, y); g.stroke(); }
    g.beginPath();
    if (kind >= 10 || kind === 3) { g.moveTo(x - 3.5, y - 3.5); g.lineTo(x + 3.5, y + 3.5); g.moveTo(x + 3.5, y - 3.5); g.lineTo(x - 3.5, y + 3.5); g.stroke(); }
    else if (kind === 2) { g.arc(x, y, 3, 0, 7); g.fill(); }
    else g.strokeRect(x - 3, y - 3, 6, 6);
  }

  line(g) {
    if (this.cursor === null) return;
    g.strokeStyle = this.paint.focus;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(this.x(this.cursor), 0);
    g.lineTo(this.x(this.cursor), this.total);
    g.stroke();
    const row = this.told !== null && this.rowOf.get(this.ticks.lane[this.told]);
    if (row) { g.lineWidth = 2; g.beginPath(); g.arc(this.x(this.cursor), row.top + (row.lane.kind === KIND.client ? 20 : 25), 7, 0, 7); g.stroke(); }
  }

  // stops are round times for the axis.
  stops() {
    const rough = (this.to - this.from) / Math.max(2, (this.width - GUTTER) / 110), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough), all = [];
    for (let t = Math.max(0, Math.ceil(this.from / step) * step); t <= Math.min(this.to, this.data.end * 1.0001); t += step) all.push(t);
    return [all, Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(step))))];
  }

  grid(g) {
    g.strokeStyle = this.paint.grid;
    g.lineWidth = 1;
    g.beginPath();
    for (const t of this.stops()[0]) { g.moveTo(this.x(t), TOP); g.lineTo(this.x(t), this.total); }
    g.stroke();
  }

  names(g, sight) {
    g.fillStyle = this.paint.paper;
    g.fillRect(0, 0, GUTTER, this.height);
    g.strokeStyle = this.paint.rule;
    for (const row of sight) {
      const top = row.top - this.scroller.scrollTop, client = row.lane.kind === KIND.client;
      g.beginPath();
      g.moveTo(0, top + 0.5);
      g.lineTo(this.width, top + 0.5);
      g.stroke();
      this.text(g, row.lane.name, 8, top + (client ? 17 : row.height / 2 + 4), client ? this.paint.ink : this.paint.dim, GUTTER - 14, client ? "600 12px" : "11px");
      if (!client) continue;
      this.text(g, "believes", 8, top + 41, this.paint.dim, GUTTER);
      this.text(g, "servers", 8, top + 56, this.paint.dim, GUTTER);
    }
  }

  axis(g) {
    const y = this.height - AXIS;
    g.fillStyle = this.paint.paper;
    g.fillRect(0, y, this.width, AXIS);
    g.strokeStyle = this.paint.rule;
    g.beginPath();
    g.moveTo(0, y + 0.5);
    g.lineTo(this.width, y + 0.5);
    g.stroke();
    const [all, digits] = this.stops();
    g.textAlign = "center";
    for (const t of all) {
      const x = this.x(t);
      if (x > GUTTER + 10 && x < this.width - 30) this.text(g, (t / 1e9).toFixed(digits) + " s", x, y + 17, this.paint.dim, 200);
    }
    g.textAlign = "start";
  }

  text(g, text, x, y, colour, room, font = "11px") {
    if (room < 12) return;
    g.font = font + " system-ui, sans-serif";
    g.fillStyle = colour;
    if (g.measureText(text).width > room) {
      let keep = text.length - 1;
      while (keep > 0 && g.measureText(text.slice(0, keep) + "…").width > room) keep--;
      if (keep < 1) return;
      text = text.slice(0, keep) + "…";
    }
    g.fillText(text, x, y);
  }
}
