// The text of the robots.txt in force, with the number of decisions beside each line.
const mostLines = 4000; // of a longer file, only lines that decided are shown

// mostCompared bounds the work to find the lines that two texts have in common.
const mostCompared = 4e6;

// compare returns the indexes of the lines of a text that the text before did not have,
// and those that only that had, by the index of the line that follows them.
const compare = (before, now) => {
	let from = 0, a = before.length, b = now.length;
	while (from < a && from < b && before[from] === now[from]) from++;
	while (a > from && b > from && before[a - 1] === now[b - 1]) a--, b--;
	const width = b - from + 1, known = (a - from) * width <= mostCompared, common = new Uint16Array(known ? (a - from + 1) * width : 0); // the number of common lines after two places
	const at = (i, j) => (i - from) * width + j - from;
	if (known) {
		for (let i = a - 1; i >= from; i--) {
			for (let j = b - 1; j >= from; j--) common[at(i, j)] = before[i] === now[j] ? common[at(i + 1, j + 1)] + 1 : Math.max(common[at(i + 1, j)], common[at(i, j + 1)]);
		}
	}
	const added = new Set(), gone = new Map();
	for (let i = from, j = from; i < a || j < b;) {
		if (known && i < a && j < b && before[i] === now[j]) i++, j++;
		else if (i < a && (j === b || !known || common[at(i + 1, j)] >= common[at(i, j + 1)])) gone.set(j, [...(gone.get(j) || []), before[i++]]);
		else added.add(j++);
	}
	return { added, gone };
};

const source = {
	text: null, mark: '', at: 0, // the origin with its text, as the server sent it for this state
	rules: [], asked: '', etag: '', // the lines that decided, and the question for them
	lines: new Map(), // line numbers in the text, by layer and line number in the layer
	counts: new Map(), // counts of the previous answer
	opened: '', // the origin whose text was scrolled to the line that refused most
	target: 0, scroll: false, mine: new Set(), // the line that was chosen, whether to scroll to it, and the lines that refuse the chosen crawler

	begin: () => {
		byId('origin').addEventListener('change', () => source.choose(byId('origin').value));
		byId('onlyhits').addEventListener('change', () => source.show());
	},

	// choose shows another origin, at a line.
	choose: (id, line) => {
		source.target = line || 0;
		source.scroll = !!line;
		source.opened = line ? id : '';
		if (state.origin === id) return source.show();
		Object.assign(source, { text: null, mark: '', asked: '', rules: [], counts: new Map() });
		byId('source').tBodies[0].replaceChildren();
		delete byId('source').tBodies[0].dataset.key;
		state.origin = id;
		poll();
	},

	nameOf: (p) => p.origin || p.sites.join(', ') || 'all sites',

	// update shows an answer of the server.
	update: async (live) => {
		const list = live.robots_txt;
		byId('originfield').hidden = !list.length;
		if (!list.some((p) => p.id === state.origin)) {
			if (list.length) source.choose(list[0].id);
			source.state(null);
			return;
		}
		const select = byId('origin');
		replace(select, JSON.stringify(list.map((p) => [p.id, source.nameOf(p)])), ...list.map((p) => {
			const option = make('option', '', source.nameOf(p));
			option.value = p.id;
			return option;
		}));
		select.value = state.origin;
		const origin = list.find((p) => p.id === state.origin);
		source.state(origin);
		await source.load(origin);
		source.show();
	},

	state: (origin) => {
		empty('sourceempty', origin ? '' : 'No robots.txt has been read yet. It is read at the first request.');
		byId('sourcestate').textContent = origin ? zoned(origin.message) : '';
		byId('source').hidden = !origin;
	},

	// load fetches the lines that decided, and the text if it may have changed.
	load: async (origin) => {
		const mark = JSON.stringify([origin.id, origin.state, origin.version, origin.message, origin.grace.length && origin.grace[0].version]);
		const question = { data: 'lines', id: origin.id, limit: 1000 };
		if (!source.text || source.mark !== mark || state.now - source.at >= 60000) question.text = 1;
		const asked = JSON.stringify([question, mark]), { response, value } = await ask(question, asked === source.asked ? source.etag : '');
		if (state.origin !== origin.id || !value) return;
		Object.assign(source, { asked, etag: response.headers.get('ETag') || '', rules: value.lines });
		source.lines = new Map(value.lines.filter((r) => r.text_line).map((r) => [r.layer + r.line, r.text_line]));
		if (value.files) Object.assign(source, { mark, at: state.now, text: value.files[0] });
	},

	// sums returns the counts of each line of the text, and of lines of the configuration.
	sums: () => {
		const sums = new Map();
		for (const r of source.rules) {
			const key = r.removed ? (r.rule || r.layer) + ', no longer in the file' : !inText(r) ? (r.rule || (r.layer === 'hidden' ? 'hidden path' : r.layer)) + ', line ' + r.line + ' of ' + (r.file || 'the configuration') : r.text_line;
			if (!key) continue;
			const sum = sums.get(key) || { refused: 0, passed: 0, slow: true, last: 0, total: 0 };
			const total = r.denied + r.throttled + r.would_deny + r.would_throttle;
			sum.refused += state.span === 'hour' ? r.hour : state.span === 'day' ? r.day : total;
			sum.total += total;
			sum.passed += r.passed;
			sum.slow = sum.slow && !(r.denied + r.would_deny);
			sum.last = Math.max(sum.last, Date.parse(r.last));
			sums.set(key, sum);
		}
		return sums;
	},

	show: () => {
		if (!state.live || !source.text) return;
		const sums = source.sums(), body = byId('source').tBodies[0];
		const lines = (source.text.text || '').split('\n');
		if (lines.at(-1) === '') lines.pop();
		const only = byId('onlyhits').checked || lines.length > mostLines;
		byId('onlyhits').disabled = lines.length > mostLines;
		byId('sourceunit').textContent = state.span === 'month' ? 'refused since counting began' : 'refused in the last ' + state.span;
		source.mine = new Set(state.refusals.filter((r) => state.crawler && r.crawler === state.crawler).map((r) => source.lines.get(r.layer + r.line)));
		const changes = source.changes(lines, sums);
		const key = JSON.stringify([source.mark, only, source.text.before, [...source.mine], source.target, source.text.findings, lines.length, source.text.text, [...sums]]);
		const rows = [];
		let skipped = 0;
		lines.forEach((line, i) => {
			const added = changes.added.has(i), gone = changes.gone.get(i) || [];
			if (only && !sums.has(i + 1) && source.target !== i + 1 && !added && !gone.length) return void skipped++;
			if (skipped) rows.push(source.gap(skipped));
			skipped = 0;
			const row = source.row(i + 1, line, sums.get(i + 1));
			if (added) row.classList.add('added');
			rows.push(...gone.map(source.gone), row, ...source.findings(i + 1));
		});
		rows.push(...(changes.gone.get(lines.length) || []).map(source.gone));
		if (skipped) rows.push(source.gap(skipped));
		for (const [k, sum] of sums) {
			if (typeof k === 'string') rows.push(source.row(0, k, sum, k));
		}
		if (!lines.length) rows.push(source.gap(0));
		if (replace(body, key, ...rows)) {
			source.counts = new Map([...sums].map(([k, s]) => [k, s.total]));
			const target = body.querySelector('.target');
			if (target && source.scroll) target.scrollIntoView({ block: 'center' });
			source.scroll = false;
		}
		const most = [...sums].reduce((a, [n, s]) => (typeof n === 'number' && s.refused > a[1] ? [n, s.refused] : a), [0, 0])[0];
		if (most && source.opened !== state.origin) {
			const row = [...body.rows].find((tr) => tr.children[1].textContent === String(most)), box = body.closest('.scroll');
			if (row) box.scrollTop = Math.max(0, row.offsetTop - box.clientHeight / 3);
			source.opened = state.origin;
		}
	},

	// changes compares the text with the one that it replaced, as long as a grace period
	// keeps that, and says in words what is new and what it refused. It returns the
	// indexes of lines that are new, and the lines that are gone by the index of the
	// line that follows them.
	changes: (lines, sums) => {
		const origin = state.live.robots_txt.find((p) => p.id === state.origin), version = origin && origin.grace[0];
		if (!source.text.before || !version) return { added: new Set(), gone: new Map() };
		const changes = compare(source.text.before.replace(/\n$/, '').split('\n'), lines), added = [...changes.added].filter((i) => lines[i].trim());
		const refused = added.reduce((sum, i) => sum + (sums.get(i + 1) || { total: 0 }).total, 0), gone = [...changes.gone.values()].flat().filter((line) => line.trim()).length;
		const said = [];
		if (added.length) said.push((added.length === 1 ? 'line ' : 'lines ') + added.slice(0, 5).map((i) => i + 1).join(', ') + (added.length > 5 ? ' and ' + (added.length - 5) + ' more' : '') + (added.length === 1 ? ' is new: ' : ' are new: ') + plural(refused, 'refusal', 'refusals') + ' since');
		if (gone) said.push(plural(gone, 'line is gone', 'lines are gone'));
		if (said.length) byId('sourcestate').textContent = zoned(origin.message) + '. It changed at ' + timeOf(Date.parse(version.replaced)) + ': ' + said.join('; ') + '.';
		return changes;
	},

	gone: (text) => make('tr', 'gone', make('td', 'hits'), make('td', 'no', '−'), make('td', '', make('del', '', text.replaceAll('\r', '')))),

	gap: (n) => {
		const cell = make('td', '', n ? '… ' + plural(n, 'line', 'lines') + ' that did not decide' : 'There are no lines: crawlers may fetch everything.');
		return make('tr', 'gap', make('td', 'hits'), make('td', 'no'), cell);
	},

	row: (n, text, sum, key) => {
		const hits = make('td', 'hits');
		const line = make('tr', /^\s*(#|$)/.test(text) ? 'comment' : '', hits, make('td', 'no', n || ''), make('td', '', text.replaceAll('\r', '')));
		if (n && n === source.target) line.classList.add('target');
		if (n && source.mine.has(n)) line.classList.add('mine');
		if (!sum) return line;
		const since = source.counts.get(key || n);
		if (since !== undefined && sum.total > since) line.classList.add('fresh');
		if (sum.refused || sum.total) {
			line.classList.add(sum.slow ? 'slow' : 'hit');
			hits.textContent = count(sum.refused);
			hits.title = plural(sum.total, 'request', 'requests') + ' refused since counting began, the last one at ' + timeOf(sum.last, true);
		} else {
			line.classList.add('let');
			hits.textContent = count(sum.passed) + ' ✓';
			hits.title = plural(sum.passed, 'request', 'requests') + ' allowed by this line';
		}
		return line;
	},

	// findings returns the rows for the linter's findings in a line.
	findings: (n) => (source.text.findings || []).filter((f) => f.line === n && f.severity !== 'info').map((f) =>
		make('tr', 'finding ' + f.severity, make('td', 'hits'), make('td', 'no'), make('td', '', make('div', '', make('b', '', f.severity + ': '), f.message || f.text, f.file === 'robots.txt' ? '' : ' (' + placeOf({ file: f.file, line: f.at }) + ')')))),
};
