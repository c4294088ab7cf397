package browser

// Scripts that tests put before what they evaluate: helpers of Eval.

// WithInk counts the pixels of the lanes that have a colour of the page.
const WithInk = `
const countInk = name => {
	const view = document.querySelector("[data-lanes]").view, {width, height} = view.canvas;
	const hex = view.paint[name].slice(1), want = [0, 2, 4].map(i => parseInt(hex.slice(i, i + 2), 16));
	const data = view.canvas.getContext("2d").getImageData(0, 0, width, height).data;
	let n = 0;
	for (let i = 0; i < data.length; i += 4) if (want.every((w, j) => Math.abs(data[i + j] - w) < 12)) n++;
	return n;
};`

// WithPan pans over a share of the whole for a second and a half, and gives the number of frames and how many in a second.
const WithPan = `
const pan = share => new Promise(done => {
	const view = document.querySelector("[data-lanes]").view, end = view.data.end;
	view.lookAt(end * (0.5 - share / 2), end * (0.5 + share / 2));
	let n = 0, began = 0, before = 0;
	const step = now => {
		if (!began) { began = now; before = view.frames; }
		const drawn = view.frames - before;
		if (now - began > 1500) { done([drawn, drawn / (now - began) * 1000]); return; }
		n++;
		view.pan((view.to - view.from) / 200 * (n % 100 < 50 ? 1 : -1));
		requestAnimationFrame(step);
	};
	requestAnimationFrame(step);
});`

// WithAudit looks for what keeps somebody from reading or using the page: text with a contrast below WCAG 2.2's 4.5 to 1
// (3 to 1 if it is large), controls and pictures without a name, headers of tables without a scope, headings that skip a
// level, one id for two elements, things that scroll and cannot be reached by keys.
const WithAudit = `
const audit = () => {
	const problems = [];
	const visible = e => e.checkVisibility({opacityProperty: true, visibilityProperty: true}) && e.getClientRects().length > 0;
	const short = e => e.tagName.toLowerCase() + (e.className && typeof e.className === "string" ? "." + e.className : "") + " " + (e.textContent || "").trim().slice(0, 40);
	const parse = c => { const n = c.match(/[\d.]+/g).map(Number); return {rgb: n.slice(0, 3), a: n.length > 3 ? n[3] : 1}; };
	const over = (top, under) => top.rgb.map((v, i) => v * top.a + under[i] * (1 - top.a));
	const background = e => {
		const stack = [];
		for (let at = e; at; at = at.parentElement) stack.push(parse(getComputedStyle(at).backgroundColor));
		return stack.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
	};
	const luminance = rgb => { const [r, g, b] = rgb.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	let texts = 0;
	for (const e of document.body.querySelectorAll("*")) {
		if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || ["SCRIPT", "STYLE", "NOSCRIPT", "TITLE"].includes(e.tagName) || !visible(e)) continue;
		if (e.closest(".skip")) continue;
		texts++;
		const style = getComputedStyle(e), svg = e.namespaceURI.endsWith("svg"), under = background(e);
		const colour = over(parse(svg ? style.fill : style.color), under), size = parseFloat(style.fontSize);
		const least = size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5, found = contrast(colour, under);
		if (found < least - 0.005) problems.push("contrast " + found.toFixed(2) + ", want " + least + ": " + short(e));
	}
	const named = e => (e.getAttribute("aria-label") || (e.getAttribute("aria-labelledby") || "").split(" ").map(id => document.getElementById(id)?.textContent).join("") ||
		[...(e.labels || [])].map(l => l.textContent).join("") || (["INPUT", "CANVAS"].includes(e.tagName) ? "" : e.textContent) || "").trim();
	for (const e of document.querySelectorAll('a, button, input, select, canvas, summary, svg[role="img"], [role="region"], [role="img"]'))
		if (visible(e) && !named(e)) problems.push("no name: " + short(e));
	for (const th of document.querySelectorAll("th")) if (!th.scope) problems.push("no scope: " + short(th));
	let level = 0;
	for (const h of [...document.querySelectorAll("h1, h2, h3, h4")].filter(visible)) {
		const now = +h.tagName[1];
		if (level && now > level + 1) problems.push("heading skips a level: " + short(h));
		level = now;
	}
	const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
	for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) problems.push("id twice: " + id);
	for (const e of document.body.querySelectorAll("*")) {
		const scrolls = ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1;
		if (scrolls && visible(e) && e.tabIndex < 0 && !e.querySelector("a, button, input, [tabindex]")) problems.push("scrolls and cannot be focused: " + short(e));
	}
	if (!document.documentElement.lang) problems.push("no language");
	if (!document.title) problems.push("no title");
	return {texts, problems};
};`
