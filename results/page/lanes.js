// The lane view: unpacks a history, finds one's way in it by pointer and keys, and tells what is there.

class LaneView extends LanePicture {
  constructor(place, data) {
    super();
    this.data = data;
    this.texts = data.strings;
    this.bars = unpackColumns(data.bars);
    this.ticks = unpackColumns(data.ticks);
    for (const name of ["lane", "sort", "client", "lock", "lease", "why", "fence", "flags"]) this.bars[name] = this.bars.column(name);
    for (const name of ["lane", "op", "outcome", "lease", "by", "error", "fence", "value", "version", "event", "cause", "mark", "flags"])
      this.ticks[name] = this.ticks.column(name);
    this.hidden = new Set();
    this.cursor = null;
    this.told = null;
    this.sortOut();
    this.build(place);
    this.lookAt(...this.home());
  }

  // sortOut lists bars and ticks by lane and kind, in the order of time.
  sortOut() {
    const {bars, ticks} = this;
    this.lanes = this.data.lanes.map(([name, kind], at) => ({name, kind, at, bars: [[], [], []], ticks: new Map(), all: [], bands: []}));
    for (let i = 0; i < bars.n; i++) this.lanes[bars.lane[i]].bars[bars.sort[i]].push(i);
    for (const lane of this.lanes) {
      lane.reach = lane.bars.map(list => { // the greatest end so far: where to begin to look
        let most = 0;
        return Float64Array.from(list, i => most = Math.max(most, bars.to[i]));
      });
    }
    for (let i = 0; i < ticks.n; i++) {
      const lane = this.lanes[ticks.lane[i]], kind = ticks.mark[i] ? 10 + ticks.mark[i] : ticks.outcome[i];
      if (!lane.ticks.has(kind)) lane.ticks.set(kind, []);
      lane.ticks.get(kind).push(i);
      lane.all.push(i);
    }
    const byEnd = (a, b) => ticks.to[a] - ticks.to[b];
    for (const lane of this.lanes) {
      lane.all.sort(byEnd);
      for (const list of lane.ticks.values()) list.sort(byEnd);
    }
    this.witness = [];
    for (let i = 0; i < ticks.n; i++) if (ticks.flags[i] & FLAG.witness || ticks.mark[i]) this.witness.push(i);
    for (const band of this.data.bands) for (const lane of band.lanes) this.lanes[lane].bands.push(band);
    this.order = Array.from({length: ticks.n}, (_, i) => i).sort(byEnd);
    this.colours = new Map(this.lanes.filter(l => l.kind === KIND.client).map((l, i) => [l.name, i % 6]));
  }

  build(place) {
    const make = (name, attributes = {}, ...children) => {
      const e = document.createElement(name);
      for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
      e.append(...children);
      return e;
    };
    const button = (text, label, act) => {
      const b = make("button", {type: "button", title: label, "aria-label": label}, text);
      b.addEventListener("click", () => { act(); this.canvas.focus({preventScroll: true}); });
      return b;
    };
    const tools = make("div", {class: "lanes-tools"},
      button("+", "zoom in", () => this.zoom(0.5)), button("−", "zoom out", () => this.zoom(2)),
      button("whole", "the whole history", () => this.lookAt(0, this.data.end)));
    this.data.stories.forEach(story => tools.append(
      button("✗ " + story.property, "show the violation of " + story.property, () => this.lookAtStory(story))));
    tools.append(button("◀", "previous event", () => this.step(-1)), button("▶", "next event", () => this.step(1)));
    tools.append(this.filter(make));
    this.canvas = make("canvas", {tabindex: "0", role: "img", "aria-describedby": "lanes-help", "aria-label": this.summary()});
    this.spacer = make("div");
    this.scroller = make("div", {class: "lanes-scroll"}, this.canvas, this.spacer);
    this.scroller.style.cssText = "overflow-y:auto;position:relative";
    this.canvas.style.cssText += "position:sticky;top:0";
    this.read = make("div", {class: "lanes-read", role: "status"}, "Point at something, or step through the events with n and p.");
    place.replaceChildren(tools, this.scroller, this.read, make("p", {class: "lanes-help", id: "lanes-help"},
      "Drag or ← → to pan; + − or Ctrl and wheel to zoom; 0 the whole, w the violation; n and p the next and previous event. " +
      "Thick bar: the client believes that it holds the lock. Thin bar: the lock servers have its lease; hatched red: they have not. " +
      "Pale: a server crashed and may have forgotten. ● ok, ✕ failed, rejected or stale, □ unknown; #n a fence."));
    place.view = this;
    this.listen();
    this.theme();
    this.resize();
  }

  // filter chooses clients: by a box each or, if they are many, by a part of the name.
  filter(make) {
    const clients = this.lanes.filter(l => l.kind === KIND.client);
    const set = make("fieldset", {}, make("legend", {}, "clients"));
    if (clients.length > 10) {
      const box = make("input", {type: "search", placeholder: "part of a name", "aria-label": "show clients whose name contains"});
      box.addEventListener("input", () => {
        this.hidden = new Set(clients.filter(l => !l.name.includes(box.value)).map(l => l.at));
        this.resize();
      });
      set.append(box);
      return set;
    }
    for (const lane of clients) {
      const box = make("input", {type: "checkbox"});
      box.checked = true;
      box.addEventListener("change", () => {
        if (box.checked) this.hidden.delete(lane.at); else this.hidden.add(lane.at);
        this.resize();
      });
      set.append(make("label", {}, box, " " + lane.name));
    }
    return set;
  }

  summary() {
    const count = kind => this.lanes.filter(l => l.kind === kind).length;
    return `Lanes of ${count(KIND.client)} clients, ${count(KIND.node)} lock servers and ${count(KIND.resource)} resources over ` +
      `${lengthOf(this.data.end)}, ${this.ticks.n} operations. ` + this.data.stories.map(s => s.property + " violated: " + s.sentence).join(". ");
  }

  home() {
    const stories = this.data.stories;
    if (!stories.length) return [0, this.data.end];
    return [Math.min(...stories.map(s => s.from)), Math.max(...stories.map(s => s.to))];
  }

  // lookAt shows a stretch of time with some room on both sides.
  lookAt(from, to) {
    const room = Math.max((to - from) * 0.08, LEAST_SPAN / 2);
    this.from = from - room;
    this.to = to + room;
    this.draw();
  }

  lookAtStory(story) {
    this.lookAt(story.from, story.to);
    this.tell(story.property + " violated: " + story.sentence);
  }

  zoom(factor, around = this.cursor !== null && this.cursor > this.from && this.cursor < this.to ? this.cursor : (this.from + this.to) / 2) {
    const whole = (this.data.end || LEAST_SPAN) * 1.3;
    const span = Math.min(Math.max((this.to - this.from) * factor, LEAST_SPAN), whole);
    const share = (around - this.from) / (this.to - this.from);
    this.from = around - share * span;
    this.to = this.from + span;
    this.pan(0);
  }

  pan(by) {
    const span = this.to - this.from, least = -span * 0.5, most = this.data.end - span * 0.5;
    this.from = Math.min(Math.max(this.from + by, least), Math.max(most, least));
    this.to = this.from + span;
    this.draw();
  }

  // step moves the cursor to the next or the previous event that is not hidden.
  step(by) {
    const {ticks, order} = this;
    let at = this.told === null ? firstAtLeast(order, ticks.to, Math.max(this.from, 0)) - (by > 0 ? 1 : 0) : order.indexOf(this.told);
    do at += by; while (at >= 0 && at < order.length && this.hidden.has(ticks.lane[order[at]]));
    if (at < 0 || at >= order.length) return;
    this.told = order[at];
    this.cursor = ticks.to[this.told];
    if (this.cursor < this.from || this.cursor > this.to) this.pan(this.cursor - (this.from + this.to) / 2);
    this.tell(this.wordsOf(this.told));
    this.draw();
  }

  tell(text) { this.read.textContent = text; }

  wordsOf(i) {
    const {ticks, texts} = this, lane = this.lanes[ticks.lane[i]];
    const words = [exactTime(ticks.to[i]) + ": " + lane.name, (ticks.by[i] ? texts[ticks.by[i]] + "’s " : "") + texts[ticks.op[i]], OUTCOME[ticks.outcome[i]]];
    if (ticks.to[i] > ticks.from[i]) words.push("asked at " + exactTime(ticks.from[i]) + ", took " + lengthOf(ticks.to[i] - ticks.from[i]));
    if (ticks.mark[i]) words.push(MARK[ticks.mark[i]]);
    if (ticks.fence[i]) words.push("fence " + ticks.fence[i]);
    if (ticks.version[i]) words.push("version " + ticks.version[i]);
    if (ticks.lease[i]) words.push("lease " + texts[ticks.lease[i]]);
    if (ticks.error[i]) words.push(texts[ticks.error[i]]);
    if (ticks.flags[i] & FLAG.witness) words.push("named by the witness");
    return words.join(", ") + " (event " + ticks.event[i] + ")";
  }

  wordsOfBar(i) {
    const {bars, texts} = this, client = texts[bars.client[i]] || "an unknown client";
    const what = [client + " believes that it holds " + texts[bars.lock[i]], "the servers have the lease of " + client,
      "the server has the value of " + client + " under " + texts[bars.lock[i]]][bars.sort[i]];
    let text = `${what}, from ${exactTime(bars.from[i])} to ${exactTime(bars.to[i])} (${lengthOf(bars.to[i] - bars.from[i])})`;
    if (bars.fence[i]) text += ", fence " + bars.fence[i];
    if (bars.lease[i]) text += ", lease " + texts[bars.lease[i]];
    if (bars.flags[i] & FLAG.open) text += "; it lasts to the end of the history";
    else if (bars.why[i]) text += "; it ends when " + texts[bars.why[i]];
    if (bars.flags[i] & FLAG.doubtful) text += "; it may have ended before: a server crashed or failed over, and does not tell";
    return text;
  }

  listen() {
    const canvas = this.canvas, pointers = new Map();
    const timeAt = x => this.from + (x - GUTTER) / (this.width - GUTTER) * (this.to - this.from);
    const place = e => { const box = canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
    canvas.addEventListener("wheel", e => {
      if (e.ctrlKey || e.metaKey) this.zoom(Math.exp(e.deltaY * 0.003), timeAt(place(e)[0]));
      else if (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey) this.pan((e.deltaX || e.deltaY) / this.width * (this.to - this.from));
      else return;
      e.preventDefault();
    }, {passive: false});
    canvas.addEventListener("pointerdown", e => { pointers.set(e.pointerId, place(e)); canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", e => {
      const now = place(e), before = pointers.get(e.pointerId);
      if (!before) { this.point(timeAt(now[0]), now[1]); return; }
      if (pointers.size === 2) {
        const other = [...pointers].find(([id]) => id !== e.pointerId)[1];
        this.zoom(Math.abs(before[0] - other[0]) / Math.max(8, Math.abs(now[0] - other[0])), timeAt((now[0] + other[0]) / 2));
      } else this.pan((before[0] - now[0]) / (this.width - GUTTER) * (this.to - this.from));
      pointers.set(e.pointerId, now);
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, e => pointers.delete(e.pointerId));
    canvas.addEventListener("dblclick", e => this.zoom(0.25, timeAt(place(e)[0])));
    const keys = {
      ArrowLeft: () => this.pan(-(this.to - this.from) / 10), ArrowRight: () => this.pan((this.to - this.from) / 10),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.lookAt(0, this.data.end),
      w: () => this.data.stories.length && this.lookAtStory(this.data.stories[0]), n: () => this.step(1), p: () => this.step(-1),
    };
    canvas.addEventListener("keydown", e => {
      if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
      keys[e.key]();
      e.preventDefault();
    });
    this.scroller.addEventListener("scroll", () => this.draw());
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.scroller);
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.onScheme = () => { this.theme(); this.draw(); };
    this.scheme.addEventListener("change", this.onScheme);
  }

  close() {
    this.observer.disconnect();
    this.scheme.removeEventListener("change", this.onScheme);
    this.closed = true;
  }

  // point tells what is nearest to the pointer on its lane.
  point(t, y) {
    this.cursor = t;
    const lane = this.rows.find(row => y + this.scroller.scrollTop >= row.top && y + this.scroller.scrollTop < row.top + row.height)?.lane;
    const reach = 7 * (this.to - this.from) / (this.width - GUTTER);
    let text = exactTime(Math.max(t, 0));
    this.told = null;
    if (lane) {
      const near = firstAtLeast(lane.all, this.ticks.to, t);
      let best = null;
      for (const i of [lane.all[near - 1], lane.all[near]])
        if (i !== undefined && Math.abs(this.ticks.to[i] - t) < reach && (best === null || Math.abs(this.ticks.to[i] - t) < Math.abs(this.ticks.to[best] - t))) best = i;
      const told = [];
      if (best !== null) { told.push(this.wordsOf(best)); this.told = best; }
      for (const list of lane.bars) for (const i of this.barsAt(lane, list, t)) told.push(this.wordsOfBar(i));
      for (const band of lane.bands) if (band.from <= t && t <= band.to)
        told.push(`${band.kind} of ${band.subject}, ${lengthOf(band.to - band.from)}, ${band.outcome}${band.evidence ? ": " + band.evidence : ""}`);
      text += "  " + lane.name + (told.length ? ": " + told.slice(0, 4).join("; ") : "");
    }
    this.tell(text);
    this.draw();
  }

  barsAt(lane, list, t) {
    const end = firstAtLeast(list, this.bars.from, t), found = [];
    for (let at = end - 1; at >= 0 && at > end - 40 && found.length < 2; at--) if (this.bars.to[list[at]] >= t) found.push(list[at]);
    return found;
  }
}
