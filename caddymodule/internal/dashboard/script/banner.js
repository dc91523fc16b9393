// The banner answers in one sentence: what is wrong, who, which line; and what to do.
// The server knows most conditions: they are the problems that it reports.
const banner = {
	show: (live) => {
		const { mark, kind, text, todo, who, many } = banner.of(live);
		const key = JSON.stringify([mark, text, todo, who]);
		if (replace(byId('banner'), key, make('p', '', make('span', 'kind', kind), ' ', text), todo ? make('p', 'todo', 'What to do: ' + todo) : null)) byId('banner').className = 'note ' + mark;
		Object.assign(banner, { who, kind, many });
	},

	who: '', kind: '', many: false, // the crawler that the banner is about, its first words, and whether requests are too many

	of: (live) => {
		const h = live.summary.health, found = h.problems.map((p) => banner.problem(live, p)), severe = h.problems.filter((p) => p.severity === 'error').length;
		found.splice(severe, 0, banner.search(live), banner.newLine(live));
		const [first, ...others] = found.filter(Boolean), rest = others.length + (h.more || 0);
		banner.problems = first ? others : [];
		if (first) return { ...first, text: first.text + (rest ? ' And ' + plural(rest, 'other problem', 'other problems') + ', below.' : '') };
		const modes = live.summary.modes;
		if (modes.monitor && !modes.enforce && !modes.both) {
			const w = live.summary.crawlers[state.span], would = (c) => c.counts.would_deny + c.counts.would_throttle, most = [...live.crawlers.crawlers].sort((a, b) => would(b) - would(a))[0];
			return { mark: 'info', kind: 'Monitor mode:', text: 'nothing is refused. ' + plural(w.would_deny + w.would_throttle, 'request', 'requests') + ' would have been refused in the last ' + state.span + (most && would(most) ? ', most of them of ' + most.name : '') + '.', todo: 'Look at the refusals. If they are right, remove the line mode monitor.' };
		}
		if (!live.summary.origins.origins) return { mark: 'info', kind: 'Nothing to show yet:', text: 'robots.txt is read at the first request to a site.' };
		const impostors = live.summary.reasons.filter((r) => r.reason === 'impostor' && r.action === 'deny').reduce((sum, r) => sum + r[state.span], 0);
		return {
			mark: 'good', kind: 'All is well:', text: health.summary(live) + ' ' + (live.summary.search[state.span].verified ? 'No search engine is refused by mistake.' : 'Nobody has been verified as a search engine.') +
				(impostors ? ' ' + plural(impostors, 'request of an impostor was', 'requests of impostors were') + ' denied in the last ' + state.span + '.' : ''),
		};
	},

	problems: [], // all but the first

	problem: (live, p) => ({
		mark: p.severity === 'error' ? 'bad' : 'warn', kind: p.severity === 'error' ? 'Problem:' : 'Warning:',
		text: zoned(p.message) + (p.since ? ' (since ' + timeOf(Date.parse(p.since)) + ')' : '') + '.' + banner.effect(live, p), todo: zoned(p.advice), who: p.kind === 'impostors' ? '' : p.crawler, many: ['flood', 'busy', 'shedding'].includes(p.kind),
	}),

	// search returns the verified search engine that is refused most, if that is more
	// than one request in twenty of all search engines; null if it is not.
	search: (live) => {
		const all = live.summary.search[state.span];
		if (all.verified_refused * 20 <= all.verified) return null;
		const refused = live.crawlers.crawlers.filter((c) => c.purposes.includes('search')).sort((a, b) => b.counts.verified_refused - a.counts.verified_refused)[0];
		const named = live.summary.health.problems.some((p) => refused && p.crawler === refused.name && (p.kind === 'search_refused' || p.kind === 'guard_acted'));
		if (named || !refused || !refused.counts.verified_refused) return null;
		const n = refused.counts, last = state.refusals.find((r) => r.crawler === refused.name && r.verified === 'verified' && r.line);
		return {
			mark: 'warn', kind: 'Warning:', who: refused.name,
			text: refused.name + ', a verified search engine: ' + count(n.verified_refused) + ' of its ' + plural(n.verified, 'verified request was', 'verified requests were') + ' refused in the last ' + state.span +
				(last ? ', the last one by ' + placeOf(last) + (last.rule ? ', ' + last.rule : '') : '') + '.',
			todo: 'If that is a mistake, mend the line in robots.txt, or exempt the search engine, as below.',
		};
	},

	// effect says what became of the requests of the crawler that a problem is about.
	effect: (live, p) => {
		const row = p.crawler && live.crawlers.crawlers.find((c) => c.name === p.crawler), n = row && row.counts;
		if (!n || !n.requests || p.kind.startsWith('search')) return '';
		const refused = n.denied + n.throttled, last = state.refusals.find((r) => r.crawler === p.crawler && r.line);
		return ' In the last ' + state.span + ', ' + Math.round(refused / n.requests * 100) + ' % of its requests were refused' + (refused && last ? ', the last one by ' + placeOf(last) + (last.rule ? ', ' + last.rule : '') : '') + '.';
	},

	// newLine returns the line that refuses at least 100 requests an hour now, and ten
	// times as many as in an hour of the day before; null if there is none, or if
	// counting began less than six hours ago.
	newLine: (live) => {
		if (state.now - Date.parse(live.summary.since) < 6 * 3600e3) return null;
		const line = ((live.lines && live.lines.lines) || []).find((l) => l.hour >= 100 && l.hour > 10 * (l.day - l.hour) / 23);
		return line ? {
			mark: 'warn', kind: 'Warning:', text: placeOf(line) + ', ' + line.rule + ', began to refuse much: ' + plural(line.hour, 'request', 'requests') + ' in the last hour, ' + count(line.day - line.hour) + ' in the 23 hours before.',
			todo: 'Look at the line in robots.txt below, and at who is refused by it.',
		} : null;
	},
};
