// The panels for health, current figures and origins.
const health = {
	show: (live) => {
		const h = live.health, notes = banner.problems.map((p) => health.note(p.mark, p.kind, p.text, p.todo, p.actions));
		if (h.more > 0) notes.push(health.note('warn', 'And', plural(h.more, 'more problem', 'more problems') + '.', 'Run caddy robots status to see all of them.'));
		const { modes, sites: rows } = live;
		for (const [mode, what] of [['monitor', 'nothing is refused at '], ['both', 'only a part of the crawlers is refused at ']]) {
			const at = rows.filter((s) => s.mode === mode).map((s) => siteName(s.name)).sort().slice(0, 5), more = modes[mode] - at.length;
			if (modes[mode] && banner.kind !== 'Monitor mode:') notes.push(health.note('info', 'Monitor mode', what + at.join(', ') + (more ? ' and ' + plural(more, 'more site', 'more sites') : '') + '. The figures show apart what would be refused.', ''));
		}
		replace(byId('health'), notes.map((n) => n.textContent).join('\n'), ...notes);
	},

	summary: (live) => {
		const tally = live.origins;
		if (!tally.origins) return 'no robots.txt has been read yet.';
		return plural(tally.origins, 'origin', 'origins') + ' with ' + plural(tally.rules, 'rule', 'rules') + (tally.origins === 1 ? ' is' : ' are') + ' in force.';
	},

	// note returns a problem. One that is handled is folded to a line.
	note: (className, kind, text, advice, actions) => {
		const [, who, rest] = /^(.*?): (.*)$/s.exec(text) || [];
		if (className === 'good' && rest) return make('li', 'note good', make('details', '', make('summary', '', make('span', 'kind', kind), ' ' + who), rest));
		return health.whole(className, kind, text, className === 'good' ? '' : advice, actions);
	},

	// whole returns a problem with the text to copy of the recommended action.
	whole: (className, kind, text, advice, [first] = []) => make('li', 'note ' + className, make('span', 'kind', kind), make('span', '', text), advice ? make('span', 'todo', 'What to do: ' + advice) : null,
		first?.text ? make('div', 'todo', ...next.step({ ...first, what: '' })) : null),
};

// The tables that features show.
const sections = {
	show: (live) => {
		const list = live.health.sections || [];
		byId('sections').hidden = !list.length;
		const open = [...byId('sections').querySelectorAll('table')].map((table) => table.dataset.open || '');
		if (!replace(byId('sections'), JSON.stringify(list), ...list.map(sections.panel))) return;
		byId('sections').querySelectorAll('table').forEach((table, i) => {
			table.dataset.open = open[i] || '';
			fold(table);
		});
	},

	panel: (s) => {
		const cell = (name, value, i) => make(name, s.columns[i].number ? 'num' : '', value || '–');
		const row = (name, values) => make('tr', '', ...values.map((value, i) => cell(name, value, i)));
		const head = row('th', s.columns.map((c) => c.name[0].toUpperCase() + c.name.slice(1)));
		for (const th of head.children) th.scope = 'col';
		const scroll = make('div', 'scroll', make('table', '', make('thead', '', head), make('tbody', '', ...s.rows.map((values) => row('td', values)))));
		scroll.tabIndex = 0;
		scroll.setAttribute('role', 'region');
		scroll.setAttribute('aria-label', s.title);
		return make('section', 'panel', make('h2', '', s.title), scroll, s.note ? make('p', 'state', s.note) : null);
	},
};

const figures = {
	// rate estimates the requests in the last 60 seconds from the counts per minute.
	rate: (values, hour) => {
		const last = values.length - 1, begun = (state.now / 1000) - (Date.parse(hour.start) / 1000 + last * hour.step);
		const left = Math.min(1, Math.max(0, 1 - begun / hour.step));
		return Math.round((values[last] || 0) + (values[last - 1] || 0) * left);
	},

	// search says how much is known about search engines. A claim that nobody has
	// checked can be anybody's.
	search: (s, verify) => s.verified ? 'of ' + count(s.verified) + ' verified requests in the last ' + state.span
		: !s.requests && verify ? 'none came in the last ' + state.span
			: 'not known: ' + (verify ? 'no request was verified in the last ' + state.span : 'verify is off') + '; ' + plural(s.claims_refused || 0, 'claim', 'claims') + ' refused',

	show: (live) => {
		const hour = live.hour, d = chart.all(hour), windows = live.crawlers, w = windows[state.span], programs = live.programs[state.span], people = live.people[state.span], strangers = live.strangers[state.span];
		const all = d.passed.map((n, i) => n + d.would[i] + d.denied[i] + d.throttled[i]), search = live.search[state.span];
		const sub = (n, what) => count(n) + ' in the last ' + state.span + (what || '');
		const tiles = [
			['Crawlers', 'm-pass', figures.rate(all, hour), sub(w.requests, (programs ? ', ' + count(programs) + ' of libraries and programs' : '') + (w.impostors ? ', ' + plural(w.impostors, 'impostor', 'impostors') : ''))],
			['Denied', 'm-deny', figures.rate(d.denied, hour), sub(w.denied)],
			['Throttled', 'm-throttle', figures.rate(d.throttled, hour), sub(w.throttled)],
			...(w.would_deny + w.would_throttle ? [['Would be refused', 'm-would', figures.rate(d.would, hour), sub(w.would_deny + w.would_throttle)]] : []),
			['People', 'm-people', figures.rate(d.people, hour), sub(people, live.health.problems.some((p) => p.among_people) ? ', strangers among them' : '')],
			...(strangers ? [['Strangers', 'm-throttle', figures.rate(hour.strangers, hour), sub(strangers, ', browsers without a pass')]] : []),
		];
		replace(byId('now'), JSON.stringify(tiles), ...tiles.map(([name, mark, n, text]) => make('div', mark, make('dt', '', name), make('dd', '', count(n), make('div', 'sub', text)))));
		byId('nowsearch').className = 'state' + (search.verified_refused ? ' some-deny' : '');
		byId('nowsearch').textContent = 'Verified search engines refused: ' + (search.verified ? count(search.verified_refused || 0) + ' ' : '') + figures.search(search, live.verify) + '.';
	},
};

const origins = {
	show: (live) => {
		const list = live.robots_txt, h = live.health, more = live.origins.origins - list.length;
		byId('originsunit').textContent = list.length ? count(live.origins.origins) : '';
		empty('originsempty', list.length ? more > 0 ? plural(more, 'more origin', 'more origins') + ', which refuse less.' : '' : 'None yet: robots.txt is read at the first request to a site.');
		const [good, bad] = [list.filter((p) => p.ok), list.filter((p) => !p.ok)], folded = [], shown = bad.map(origins.item);
		(good.length > 3 ? folded : shown).push(...good.map(origins.item));
		if (h.persist) shown.push(origins.other('Counters are kept in ' + h.persist.file, h.persist.error || (h.persist.written ? 'Written ' + timeOf(Date.parse(h.persist.written)) : 'Not written yet')));
		const key = JSON.stringify([list, h.persist]);
		replace(byId('origins'), key, ...shown);
		byId('fold').hidden = !folded.length;
		byId('foldname').textContent = plural(good.length, 'origin', 'origins') + ' in force';
		replace(byId('folded'), key, ...folded);
	},

	item: (p) => {
		const name = make('button', 'link name', source.nameOf(p));
		name.type = 'button';
		name.title = 'show its robots.txt';
		name.addEventListener('click', () => {
			source.choose(p.id);
			byId('h-source').scrollIntoView({ block: 'start' });
		});
		const facts = [p.source === 'site' ? '' : p.source + (p.location ? ' ' + p.location : ''), p.mode === 'monitor' ? 'monitor' : '', plural(p.rules, 'rule', 'rules'),
			p.fetched_at ? 'fetched ' + timeOf(Date.parse(p.fetched_at), true) : ''].filter(Boolean).join(' · ');
		const item = make('li', p.ok ? '' : 'wrong', name, ' ', make('small', '', facts), make('p', '', zoned(p.message)), p.advice ? make('p', 'todo', 'What to do: ' + zoned(p.advice)) : null);
		if (p.unenforceable.length) item.append(make('p', '', 'No crawler sends these tokens, so they can’t be enforced: ' + p.unenforceable.join(', ')));
		const before = (g) => g.version ? '' : ' (no file: ' + (g.status || 'another text') + ', everything is allowed)';
		const grace = p.grace.slice(0, 8).map((g) => (g.crawler === 'search' ? 'search engines' : 'all crawlers') + ' until ' + timeOf(Date.parse(g.until)) + before(g));
		if (grace.length) item.append(make('p', '', 'Grace period: may still follow an earlier version: ' + grace.join(', ') + (p.grace.length > 8 ? ' …' : '')));
		return item;
	},

	other: (name, message) => make('li', '', make('span', 'name', name), make('p', '', message)),
};
