// The charts: requests of crawlers by decision, as stacked bars, and below them
// requests of people, with a scale of their own.
const series = [
	{ key: 'passed', name: 'passed', mark: 'm-pass', token: '--pass' },
	{ key: 'would', name: 'would be refused', mark: 'm-would', token: '--deny' },
	{ key: 'denied', name: 'denied', mark: 'm-deny', token: '--deny' },
	{ key: 'throttled', name: 'throttled', mark: 'm-throttle', token: '--throttle' },
	{ key: 'people', name: 'people', mark: 'm-people', token: '--people' },
];
const periods = {
	hour: { unit: 'a minute, over the last hour', step: 'minute' },
	day: { unit: 'an hour, over the last day', step: 'hour' },
	month: { unit: 'a day, over the last month', step: 'day' },
};
const colour = (token) => getComputedStyle(document.documentElement).getPropertyValue(token).trim();

// hatched returns a hatched fill: what would be refused was let through. It hides the
// bar behind it.
const hatched = (token) => {
	const tile = document.createElement('canvas'), c = tile.getContext('2d');
	tile.width = tile.height = 6;
	c.fillStyle = colour('--panel');
	c.fillRect(0, 0, 6, 6);
	c.strokeStyle = colour(token);
	c.lineWidth = 2;
	c.beginPath();
	for (const x of [-3, 3, 9]) {
		c.moveTo(x - 3, 6);
		c.lineTo(x + 3, 0);
	}
	c.stroke();
	return c.createPattern(tile, 'repeat');
};

const chart = {
	plots: [], data: null, at: -1,

	// of returns the data to draw.
	of: (s) => {
		const row = state.crawler && state.live && state.live.busiest_crawlers.find((c) => c.name === state.crawler);
		if (!row || (row.series || []).length !== s.passed.length) return chart.all(s);
		const none = s.passed.map(() => 0);
		return { start: Date.parse(s.start) / 1000, step: s.step, only: row.name, passed: row.series, would: none, denied: none, throttled: none, people: none };
	},
	all: (s) => ({
		start: Date.parse(s.start) / 1000, step: s.step, people: s.people, passed: s.passed, denied: s.denied, throttled: s.throttled,
		would: s.would_deny.map((n, i) => n + s.would_throttle[i]),
	}),

	// shown returns the series with a legend: what would be refused only where there is
	// such a request.
	shown: (d) => d.only ? [{ ...series[0], name: 'requests of ' + d.only }] : series.filter((s) => s.key !== 'would' || d.would.some(Boolean)),

	// times returns the time at which each step begins, in seconds since 1970.
	times: (d) => d.passed.map((_, i) => d.start + i * d.step),

	// stacked returns the data for uPlot. The largest sums come first, so that each bar
	// covers the lower part of the bar behind it.
	stacked: (d) => {
		const rows = [d.passed];
		for (const k of ['would', 'denied', 'throttled']) rows.unshift(rows[0].map((n, i) => n + d[k][i]));
		return [chart.times(d), ...rows];
	},

	axes: (height) => [
		{ stroke: colour('--muted'), font: chart.font(), grid: { show: false }, ticks: { stroke: colour('--line'), width: 1, size: 4 }, size: height, space: 70, values: chart.labels },
		{ stroke: colour('--muted'), font: chart.font(), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, size: 44, space: 36, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7, 1e8, 1e9], values: (u, v) => v.map((n) => short.format(n)) },
	],
	font: () => '12px ' + getComputedStyle(document.body).fontFamily,
	labels: (u, splits) => splits.map((s) => (chart.data.step >= 86400 ? day : minute).format(new Date(s * 1000))),

	options: (width, height, axisHeight, drawn, paths) => ({
		width, height, padding: [6, 14, 0, 0], legend: { show: false },
		cursor: { y: false, points: { show: false }, drag: { x: false, y: false }, sync: { key: 'robots' } },
		scales: { x: { time: true, range: (u, min, max) => [min - chart.data.step / 2, max + chart.data.step / 2] }, y: { range: (u, min, max) => [0, Math.max(max * 1.05, 4)] } },
		axes: chart.axes(axisHeight),
		series: [{}, ...drawn.map(({ key, token }) => ({ stroke: colour(token), fill: () => key === 'would' ? hatched(token) : colour(token), width: 0, paths, points: { show: false } }))],
		hooks: { setCursor: [(u) => chart.point(u.cursor.idx)] },
	}),

	// draw shows data. It builds the plots again if rebuild is set, or if the steps have
	// changed.
	draw: (d, rebuild) => {
		const before = chart.data;
		chart.data = d;
		byId('chartunit').textContent = periods[state.span].unit;
		const total = series.reduce((sum, s) => sum + d[s.key].reduce((a, b) => a + b, 0), 0);
		empty('chartempty', total ? '' : 'There were no requests in this period.');
		if (rebuild || !chart.plots.length || before.step !== d.step || before.passed.length !== d.passed.length) chart.build();
		else {
			chart.plots[0].setData(chart.stacked(d));
			chart.plots[1].setData([chart.times(d), d.people]);
		}
		chart.read();
		chart.table();
	},

	build: () => {
		if (!chart.plots.length) performance.mark('chart');
		for (const p of chart.plots) p.destroy();
		const box = byId('chart'), width = Math.max(200, box.clientWidth);
		const tall = Math.round(Math.min(340, Math.max(150, width * .28)));
		const bars = uPlot.paths.bars({ size: [.66, 24], align: 0 });
		const names = [make('p', 'plotname', 'Crawlers'), make('p', 'plotname', 'People')];
		const places = [make('div'), make('div')];
		box.replaceChildren(names[0], places[0], names[1], places[1]);
		chart.plots = [
			new uPlot(chart.options(width, tall, 6, series.slice(0, 4).reverse(), bars), chart.stacked(chart.data), places[0]),
			new uPlot(chart.options(width, Math.round(tall * .42) + 24, 28, series.slice(4), bars), [chart.times(chart.data), chart.data.people], places[1]),
		];
	},

	// point shows the figures of the step under the cursor; null: no step.
	point: (i) => {
		i = i === null || i === undefined ? -1 : i;
		if (i !== chart.at) {
			chart.at = i;
			chart.read();
		}
	},

	// read writes the figures of a step, by default the newest one that is over. They
	// are also the legend.
	read: () => {
		const d = chart.data, last = d.passed.length - 1;
		const i = chart.at >= 0 && chart.at <= last ? chart.at : Math.max(0, last - 1);
		const begin = (d.start + i * d.step) * 1000;
		const when = d.step >= 86400 ? day.format(begin) : timeOf(begin) + '–' + minute.format(begin + d.step * 1000);
		const keys = chart.shown(d).map((s) => make('span', 'key ' + s.mark, s.name + ' ', make('b', '', count(d[s.key][i]))));
		byId('readout').replaceChildren(make('span', '', when + (i === last ? ' (not over yet)' : '')), ...keys);
		byId('chart').setAttribute('aria-label', 'Chart of requests. ' + byId('readout').textContent.replaceAll(/(\d)([a-z])/g, '$1, $2') + '. Arrow keys move through time.');
	},

	// move goes to another step with the keyboard.
	move: (event) => {
		const last = chart.data ? chart.data.passed.length - 1 : -1;
		const from = chart.at < 0 ? last : chart.at;
		const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
		if (to === undefined || last < 0) return;
		event.preventDefault();
		const i = Math.min(last, Math.max(0, to)), p = chart.plots[0];
		p.setCursor({ left: p.valToPos(p.data[0][i], 'x'), top: 0 });
		chart.point(i);
	},

	// table writes the data as a table, while it is open.
	table: () => {
		const box = byId('charttable'), d = chart.data;
		if (!box.parentElement.open || !d) return;
		const head = make('tr', '', make('th', '', 'From'));
		for (const s of chart.shown(d)) head.append(make('th', 'num', s.name));
		const rows = d.passed.map((_, i) => {
			const begin = (d.start + i * d.step) * 1000;
			const row = make('tr', '', make('th', '', d.step >= 86400 ? day.format(begin) : timeOf(begin)));
			for (const s of chart.shown(d)) row.append(make('td', 'num', count(d[s.key][i])));
			return row;
		}).reverse();
		replace(box, JSON.stringify(d), make('table', '', make('thead', '', head), make('tbody', '', ...rows)));
	},

	begin: () => {
		const box = byId('chart');
		box.tabIndex = 0;
		box.setAttribute('role', 'img');
		box.addEventListener('keydown', chart.move);
		byId('charttable').parentElement.addEventListener('toggle', chart.table);
		let width = 0;
		new ResizeObserver(() => {
			if (chart.data && box.clientWidth !== width) {
				width = box.clientWidth;
				chart.draw(chart.data, true);
			}
		}).observe(box);
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => chart.data && chart.draw(chart.data, true));
	},
};
