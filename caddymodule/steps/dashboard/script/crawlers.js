// The table of crawlers, sortable by each column.
const columns = [
	{ key: 'name', name: 'Crawler', text: true },
	{ key: 'purpose', name: 'Purpose', text: true, wide: true },
	{ key: 'requests', name: 'Requests' },
	{ key: 'denied', name: 'Denied' },
	{ key: 'throttled', name: 'Throttled' },
	{ key: 'would', name: 'Would refuse' },
	{ key: 'share', name: 'Verified', wide: true },
	{ key: 'last', name: 'Last', wide: true },
];

const crawlers = {
	sort: { key: 'requests', down: true },

	begin: () => {
		const head = make('tr');
		for (const c of columns) {
			const button = make('button', 'sort', c.name);
			button.type = 'button';
			button.addEventListener('click', () => {
				crawlers.sort = { key: c.key, down: crawlers.sort.key === c.key ? !crawlers.sort.down : !c.text };
				crawlers.show(state.live);
			});
			const th = make('th', (c.text ? '' : 'num ') + (c.wide ? 'wide ' : '') + (c.key === 'would' ? 'would' : c.key === 'share' ? 'claims' : ''), button);
			th.scope = 'col';
			head.append(th);
		}
		byId('crawlers').tHead.replaceChildren(head);
	},

	// of returns the row of a crawler.
	of: (c) => {
		const n = c[state.span];
		return {
			name: c.other ? 'other, ' + c.class : c.name, operator: c.operator, purpose: c.purposes.join(', ') || c.class, last: Date.parse(c.last),
			requests: n.requests, passed: n.passed, denied: n.denied, throttled: n.throttled, would: n.would_deny + n.would_throttle,
			apart: ['library', 'program', 'app'].includes(c.class), verified: n.verified || 0, unverified: n.unverified || 0, impostors: n.impostors || 0,
		};
	},

	// value returns the value by which a row is sorted.
	value: (row, key) => (key === 'share' ? crawlers.share(row) : row[key]),

	// share returns the part of the requests that was verified, -1 if none could be.
	share: (row) => {
		const checked = row.verified + row.unverified + row.impostors;
		return checked ? row.verified / checked : -1;
	},

	order: (a, b) => {
		const { key, down } = crawlers.sort, x = crawlers.value(a, key), y = crawlers.value(b, key);
		const by = typeof x === 'string' ? x.localeCompare(y, 'en') : x - y;
		return (down ? -by : by) || a.name.localeCompare(b.name, 'en');
	},

	show: (live) => {
		if (!live) return;
		const table = byId('crawlers'), rows = live.busiest_crawlers.map(crawlers.of).filter((c) => c.requests).sort(crawlers.order);
		byId('crawlersunit').textContent = 'in the last ' + state.span;
		table.classList.toggle('enforced', !rows.some((row) => row.would));
		table.classList.toggle('unverified', rows.every((row) => crawlers.share(row) < 0));
		const more = live.crawlers_total - live.busiest_crawlers.length;
		empty('crawlersempty', !rows.length ? 'No crawler has sent a request in the last ' + state.span + '.' : more > 0 ? plural(more, 'more crawler', 'more crawlers') + ' with fewer requests.' : '');
		table.hidden = !rows.length;
		[...table.tHead.rows[0].cells].forEach((th, i) => {
			if (columns[i].key === crawlers.sort.key) th.setAttribute('aria-sort', crawlers.sort.down ? 'descending' : 'ascending');
			else th.removeAttribute('aria-sort');
		});
		const apart = rows.filter((row) => row.apart), list = rows.filter((row) => !row.apart).map(crawlers.row);
		if (apart.length) list.push(crawlers.heading('HTTP libraries and programs'), ...apart.map(crawlers.row));
		replace(table.tBodies[0], JSON.stringify([rows, crawlers.sort, state.crawler]), ...list);
		fold(table);
	},

	// button returns a button that chooses a crawler, or all if it is chosen already.
	button: (name) => {
		const button = make('button', 'link', name);
		button.type = 'button';
		button.title = state.crawler === name ? 'show all crawlers' : 'show only this crawler';
		button.setAttribute('aria-pressed', state.crawler === name);
		button.addEventListener('click', () => choose({ crawler: state.crawler === name ? '' : name }));
		return button;
	},

	heading: (text) => {
		const th = make('th', '', text);
		th.scope = 'rowgroup';
		th.colSpan = columns.length;
		return make('tr', 'apart', th);
	},

	row: (row) => {
		const name = make('th', '', crawlers.button(row.name), make('span', 'sub', [row.purpose.replaceAll('-', '\u2011'), crawlers.shareText(row)].filter(Boolean).join(', ')));
		name.scope = 'row';
		if (row.operator) name.title = 'operated by ' + row.operator;
		return make('tr', state.crawler === row.name ? 'chosen' : '', name,
			make('td', 'wide', row.purpose),
			make('td', 'num', count(row.requests), crawlers.split(row)),
			make('td', 'num' + (row.denied ? ' some-deny' : ' none'), count(row.denied)),
			make('td', 'num' + (row.throttled ? ' some-throttle' : ' none'), count(row.throttled)),
			make('td', 'num would' + (row.would ? ' some-deny' : ' none'), count(row.would)),
			make('td', 'num wide claims' + (crawlers.share(row) < 0 ? ' none' : ''), crawlers.shareText(row) || '–'),
			make('td', 'num wide', timeOf(row.last)));
	},

	shareText: (row) => {
		const share = crawlers.share(row);
		if (share < 0) return '';
		const text = share > 0 && share < .01 ? '<1 %' : Math.floor(share * 100) + ' %';
		return text + (row.impostors ? ', ' + plural(row.impostors, 'impostor', 'impostors') : ' verified');
	},

	// split returns a thin bar with the parts that passed, were denied and throttled.
	split: (row) => {
		const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
		svg.setAttribute('viewBox', '0 0 100 1');
		svg.setAttribute('preserveAspectRatio', 'none');
		let from = 0;
		for (const [n, mark] of [[row.passed, 'pass'], [row.would, 'would'], [row.denied, 'deny'], [row.throttled, 'throttle']]) {
			const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
			const width = n / (row.requests || 1) * 100;
			rect.setAttribute('x', from);
			rect.setAttribute('width', width);
			rect.setAttribute('height', 1);
			rect.setAttribute('class', 'fill-' + mark);
			svg.append(rect);
			from += width;
		}
		const box = make('span', 'share', svg);
		box.setAttribute('aria-hidden', 'true');
		return box;
	},
};
