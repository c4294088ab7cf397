// The page: opens runs by their address, unpacks them, and moves through the matrix by keys.

const byId = id => document.getElementById(id);
const index = JSON.parse(byId("index").textContent);
const packs = new Map();
let lanes = null, links = [], opener = null;

document.documentElement.classList.add("scripted");

// unpack reads what is in a script element: JSON, compressed with gzip, in base64.
function unpack(id) {
  if (!packs.has(id)) packs.set(id, (async () => {
    const bytes = Uint8Array.from(atob(byId(id).textContent), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  })());
  return packs.get(id);
}

async function route() {
  const name = decodeURIComponent(location.hash.slice(1)), place = Object.hasOwn(index, name) ? index[name] : null;
  leave();
  byId("front").hidden = Boolean(place);
  byId("run").hidden = !place;
  if (!place) { comeBack(); return; }
  byId("run").textContent = "…";
  let run;
  try {
    const pack = await unpack("pack-" + place[0]), at = place[1];
    run = {key: pack.keys[at], name: pack.names[at], html: pack.html[at], picture: pack.pictures[at], lanes: pack.lanes[at],
      scenario: pack.scenarios[at], sizes: {plan: pack.plans[at], history: pack.histories[at]},
      file: async kind => (await unpack("files-" + place[0]))[kind][at]};
  } catch (problem) {
    byId("run").textContent = "This run cannot be unpacked: " + problem + ". A browser from 2023 or later is needed.";
    return;
  }
  if (decodeURIComponent(location.hash.slice(1)) !== name) return; // the reader went on
  enter(run);
}

function enter(run) {
  byId("run").innerHTML = run.html; // made by html/template, which escaped what came from the history
  document.title = "lockfault: " + run.name;
  const place = byId("run").querySelector("[data-lanes]");
  if (place && run.lanes) lanes = new LaneView(place, run.lanes);
  const paper = byId("run").querySelector("[data-picture]"), schedule = byId("run").querySelector("[data-scenario]");
  if (paper) paper.innerHTML = run.picture; // made by package svg, which escaped what came from the history
  if (schedule) schedule.textContent = run.scenario;
  offer(run);
  scrollTo(0, 0);
  byId("h-run").focus();
  document.body.dataset.shown = run.key;
}

// offer gives out the files of a run, which are unpacked when somebody wants them.
function offer(run) {
  const place = byId("run").querySelector("[data-downloads]");
  for (const [label, ending, type, size, text] of [
    ["history (JSON lines)", ".history.jsonl", "application/x-ndjson", run.sizes.history, () => run.file("histories")],
    ["scenario file", ".yaml", "text/yaml", run.scenario.length, () => run.scenario],
    ["plan", ".plan.yaml", "text/yaml", run.sizes.plan, () => run.file("plans")],
    ["picture (SVG)", ".svg", "image/svg+xml", run.picture.length, () => styled(run.picture)],
  ]) {
    if (!size) continue;
    const button = document.createElement("button");
    button.textContent = `↓ ${label}, ${size < 1e4 ? size + " bytes" : Math.round(size / 1e3) + " kB"}`;
    button.dataset.bytes = size;
    button.addEventListener("click", async () => save(run.name + ending, new Blob([await text()], {type})));
    place.append(button);
  }
}

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  links.push(link.href);
}

// styled is a picture that stands alone: the page's style sheet has the picture's own in it.
function styled(picture) {
  return picture.replace(">", "><style>" + document.getElementById("picture-style").textContent + "</style>");
}

function leave() {
  if (lanes) lanes.close();
  lanes = null;
  links.forEach(URL.revokeObjectURL);
  links = [];
  byId("run").replaceChildren();
  delete document.body.dataset.shown;
  document.title = "lockfault: which locks kept exclusion, and which the data";
}

function comeBack() {
  if (!opener) return;
  opener.focus();
  opener.scrollIntoView({block: "center", inline: "center"});
  opener = null;
}

// The matrix is one stop of the tab key; arrows move within.
const matrix = byId("matrix");
const cells = () => [...matrix.querySelectorAll("a.side")].filter(a => !a.closest("tr").hidden && !a.closest("td").hidden);

function settle(cell) {
  matrix.querySelectorAll('a.side[tabindex="0"]').forEach(a => a.tabIndex = -1);
  if (cell) cell.tabIndex = 0;
}

function neighbour(cell, key) {
  const td = cell.closest("td"), side = [...td.children].indexOf(cell), all = cells();
  const same = all.filter(a => key === "ArrowLeft" || key === "ArrowRight"
    ? a.closest("tr") === td.parentElement && [...a.closest("td").children].indexOf(a) === side
    : a.closest("td").cellIndex === td.cellIndex);
  return same[same.indexOf(cell) + (key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1)];
}

matrix.querySelectorAll("a.side").forEach(a => a.tabIndex = -1);
settle(matrix.querySelector("a.side"));
matrix.addEventListener("focusin", e => { if (e.target.matches("a.side")) settle(e.target); });
matrix.addEventListener("click", e => { opener = e.target.closest("a.side") || opener; });
matrix.addEventListener("keydown", e => {
  if (!e.key.startsWith("Arrow") || !e.target.matches("a.side")) return;
  const next = neighbour(e.target, e.key);
  if (next) next.focus();
  e.preventDefault();
});

// The filter hides rows and columns of which neither name contains what is looked for.
function find() {
  const wanted = byId("find").value.trim().toLowerCase(), odd = byId("only-bad").checked;
  const heads = [...matrix.tHead.rows[0].cells].slice(1), locks = heads.map(th => th.textContent.toLowerCase().includes(wanted));
  const byLock = wanted !== "" && locks.some(Boolean);
  const show = locks.map(found => !byLock || found);
  let shown = 0;
  heads.forEach((th, i) => th.hidden = !show[i]);
  for (const row of matrix.tBodies[0].rows) {
    [...row.cells].slice(1).forEach((td, i) => td.hidden = !show[i]);
    const text = (row.cells[0].textContent + " " + row.cells[0].title).toLowerCase();
    row.hidden = !byLock && !text.includes(wanted) || odd && !row.querySelector(".odd");
    if (!row.hidden) shown++;
  }
  byId("found").textContent = wanted || odd ? shown + (shown === 1 ? " scenario" : " scenarios") : "";
  settle(cells()[0]);
}

byId("find").addEventListener("input", find);
byId("only-bad").addEventListener("change", find);
document.querySelector(".filter").addEventListener("submit", e => e.preventDefault());
document.addEventListener("keydown", e => {
  if (e.key === "Escape" && document.body.dataset.shown) location.hash = "";
});
addEventListener("hashchange", route);
if (document.body.dataset.single && !location.hash) location.replace("#" + encodeURIComponent(Object.keys(index)[0] || ""));
else route();
