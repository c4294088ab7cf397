package page_test

// Scripts that tests put before what they evaluate.

// withInk counts the pixels of the lanes that have a colour of the page.
const withInk = `
const countInk = name => {
	const view = document.querySelector("[data-lanes]").view, {width, height} = view.canvas;
	const hex = view.paint[name].slice(1), want = [0, 2, 4].map(i => parseInt(hex.slice(i, i + 2), 16));
	const data = view.canvas.getContext("2d").getImageData(0, 0, width, height).data;
	let n = 0;
	for (let i = 0; i < data.length; i += 4) if (want.every((w, j) => Math.abs(data[i + j] - w) < 12)) n++;
	return n;
};`

// withPan pans a share of the whole for a second and a half, and counts frames.
const withPan = `
const panRate = share => new Promise(done => {
	const view = document.querySelector("[data-lanes]").view, end = view.data.end;
	view.lookAt(end * (0.5 - share / 2), end * (0.5 + share / 2));
	let n = 0, began = 0;
	const step = now => {
		if (!began) { began = now; view.frames = 0; }
		if (now - began > 1500) { done(Math.min(view.frames, n) / (now - began) * 1000); return; }
		n++;
		view.pan((view.to - view.from) / 200 * (n % 100 < 50 ? 1 : -1));
		requestAnimationFrame(step);
	};
	requestAnimationFrame(step);
});`
