// Requests that were refused, as they happen.
const mostShown = 150;

// shortReasons has reasons after a number of requests, where reasonOf would not do.
const shortReasons = { impostor: 'of impostors', hidden: 'of hidden paths', shed: 'while the server was busy', challenge: 'strangers asked to show that they are browsers', challenge_limit: 'crawlers that no rule binds, during a storm', pending: 'before robots.txt was read', unavailable: 'while robots.txt could not be read' };

const denials = {
	update: (live) => {
		if (live.last < state.last) { // the server has restarted
			Object.assign(state, { refusals: [], last: 0, etag: '' });
		}
		const known = new Set(state.refusals.map((r) => r.seq));
		const fresh = live.recent.filter((r) => !known.has(r.seq));
		state.refusals = [...fresh, ...state.refusals].slice(0, mostShown);
		state.last = live.last;
		denials.showReasons(live);
		denials.show();
	},

	show: () => {
		const list = state.refusals.filter((r) => !state.crawler || r.crawler === state.crawler);
		byId('denialsunit').textContent = list.length ? 'newest first, a sample for each crawler' + (state.live.servers ? ', on this server' : '') : '';
		empty('denialsempty', list.length ? '' : 'No request has been refused yet.');
		denials.showGroups(list);
		replace(byId('denials'), list.map((r) => r.seq).join(), ...list.map(denials.item));
	},

	// patternOf returns the pattern of the paths with the same first part.
	patternOf: (path) => (/^\/[^/]*\//.exec(path) || ['/'])[0] + '*',

	// whoOf returns the crawler of a refusal: a browser is none.
	whoOf: (r) => r.crawler || (r.class === 'person' ? 'a stranger' : r.class),

	// showReasons writes why requests were refused. The numbers add up to the tiles.
	showReasons: (live) => {
		const lines = [];
		for (const [action, word] of [['deny', 'denied'], ['throttle', 'throttled'], ['would_deny', 'would be denied'], ['would_throttle', 'would be throttled']]) {
			const why = live.reasons.filter((r) => r.action.replace('challenge', 'throttle') === action && r[state.span]);
			if (why.length) lines.push(make('p', '', make('b', '', count(why.reduce((sum, r) => sum + r[state.span], 0)) + ' ' + word), ': ' + why.map((r) => count(r[state.span]) + ' ' + (shortReasons[r.reason] || reasonOf(r.reason))).join('; ')));
		}
		const strangers = live.strangers[state.span];
		if (strangers) lines.push(make('p', '', make('b', '', plural(strangers, 'request', 'requests') + ' of strangers'), ': browsers without a pass, which were refused or checked, or would have been'));
		replace(byId('reasons'), lines.map((p) => p.textContent).join('\n'), ...lines);
	},

	// showGroups adds the refusals up by crawler, line and the first part of the path.
	// What a sample stands for is counted, too.
	showGroups: (list) => {
		const groups = new Map();
		for (const r of list) {
			const by = r.layer === 'hidden' ? placeOf(r) : [r.rule || reasonOf(r.reason), placeOf(r)].filter(Boolean).join(', ');
			const key = JSON.stringify([denials.whoOf(r), by, r.layer === 'hidden' ? 'a hidden path' : denials.patternOf(r.path)]);
			groups.set(key, (groups.get(key) || 0) + 1 + (r.omitted || 0));
		}
		const rows = [...groups].sort((a, b) => b[1] - a[1]).slice(0, 10);
		byId('groups').hidden = !rows.length;
		replace(byId('groups').tBodies[0], JSON.stringify(rows), ...rows.map(([key, n]) => {
			const [who, by, path] = JSON.parse(key), name = make('th', '', who === 'a stranger' ? who : crawlers.button(who));
			name.scope = 'row';
			return make('tr', '', name, make('td', '', by), make('td', 'what', path), make('td', 'num', count(n)));
		}));
	},

	item: (r) => {
		const [word, mark] = actionOf(r.action), at = Date.parse(r.time);
		const time = make('time', '', timeOf(at, true));
		time.dateTime = r.time;
		const who = make('span', 'who', denials.whoOf(r));
		who.title = r.user_agent;
		const claim = r.verified === 'verified' || r.verified === 'impostor' ? ' (' + r.verified + ')' : '';
		const what = make('span', 'what clip', r.method + ' ' + r.host + (r.layer === 'hidden' ? ' a hidden path' : r.path));
		const why = make('span', 'why', reasonOf(r.reason), r.line ? ', ' : '');
		const origin = denials.originOf(r);
		if (r.line && origin && inText(r)) {
			const link = make('button', 'link', r.rule || placeOf(r));
			link.type = 'button';
			link.title = placeOf(r);
			link.addEventListener('click', () => {
				source.choose(origin.id, source.lines.get(r.layer + r.line) || r.line);
				byId('h-source').scrollIntoView({ block: 'start' });
			});
			why.append(link);
		} else if (r.line) {
			why.append(r.rule ? r.rule + ', ' : '', placeOf(r));
		}
		if (r.retry_after) why.append(', Retry-After ' + r.retry_after + ' s');
		const more = r.omitted > 0 ? make('span', 'why', ' and ' + plural(r.omitted, 'more request', 'more requests') + ' before it, not listed') : null;
		return make('li', '', time, make('div', '', make('div', '', who, claim + ' ', make('span', 'tag ' + mark, word)), what, make('div', '', why, more)));
	},

	// originOf finds the origin that refused a request.
	originOf: (r) => {
		const list = state.live.robots_txt, on = list.filter((p) => p.sites.includes(r.site));
		return on.find((p) => p.origin && hostOf(p.origin) === r.host) || on.find((p) => !p.origin) || null;
	},
};

// hostOf returns the host of an origin, as the server writes hosts.
const hostOf = (origin) => {
	try {
		return new URL(origin).hostname.replaceAll(/[[\]]/g, '');
	} catch {
		return '';
	}
};
