// The banner answers in one sentence: what is wrong, who, which line; and what to do.
// The server knows most conditions: they are the problems that it reports.
const banner = {
	show: (live) => {
		const { mark, kind, text, todo, who } = banner.of(live);
		const key = JSON.stringify([mark, text, todo, who]);
		if (replace(byId('banner'), key, make('p', '', make('span', 'kind', kind), ' ', text), todo ? make('p', 'todo', 'What to do: ' + todo) : null)) byId('banner').className = 'note ' + mark;
		Object.assign(banner, { who, kind });
	},

	who: '', kind: '', // the crawler that the banner is about, and its first words

	of: (live) => {
		const h = live.summary.health, hour = live.summary.search[state.span];
		const [first, ...others] = h.problems, rest = others.length + (h.more || 0);
		if (first) {
			const note = rest ? ' And ' + plural(rest, 'other problem', 'other problems') + ', below.' : '';
			return {
				mark: first.severity === 'error' ? 'bad' : 'warn', kind: first.severity === 'error' ? 'Problem:' : 'Warning:',
				text: first.message + (first.since ? ' (since ' + timeOf(Date.parse(first.since)) + ')' : '') + '.' + banner.effect(live, first) + note, todo: first.advice, who: first.crawler,
			};
		}
		if (hour.verified_refused * 20 > hour.verified) {
			return { mark: 'warn', kind: 'Warning:', text: count(hour.verified_refused) + ' of ' + count(hour.verified) + ' verified requests of search engines were refused in the last ' + state.span + '.',
				todo: 'Click a search engine in the table of crawlers: its refusals name the lines.' };
		}
		const line = banner.newLine(live);
		if (line) {
			return { mark: 'warn', kind: 'Warning:', text: 'line ' + line.number + ' of robots.txt, ' + line.rule + ', began to refuse much: ' + plural(line.hour, 'request', 'requests') + ' in the last hour, ' + count(line.day - line.hour) + ' in the 23 hours before.',
				todo: 'Look at the line in robots.txt below, and at who is refused by it.' };
		}
		const modes = new Set(live.summary.sites.map((s) => s.mode));
		if (modes.has('monitor') && !modes.has('enforce') && !modes.has('both')) {
			const w = live.summary.crawlers[state.span];
			return { mark: 'info', kind: 'Monitor mode:', text: 'nothing is refused. ' + plural(w.would_deny + w.would_throttle, 'request', 'requests') + ' would have been refused in the last ' + state.span + '.', todo: 'Look at the refusals. If they are right, remove the line mode monitor.' };
		}
		if (!live.summary.origins.origins) return { mark: 'info', kind: 'Nothing to show yet:', text: 'robots.txt is read at the first request to a site.' };
		return { mark: 'good', kind: 'All is well:', text: health.summary(live) + ' ' + (hour.verified ? 'No search engine is refused by mistake.' : 'Nobody has been verified as a search engine.') };
	},

	// effect says what became of the requests of the crawler that a problem is about.
	effect: (live, p) => {
		const row = p.crawler && live.crawlers.crawlers.find((c) => c.name === p.crawler);
		const n = row && row[state.span];
		if (!n || !n.requests) return '';
		const refused = n.denied + n.throttled, last = state.refusals.find((r) => r.crawler === p.crawler && r.line);
		return ' In the last ' + state.span + ', ' + Math.round(refused / n.requests * 100) + ' % of its requests were refused' + (refused && last ? ', the last one by ' + placeOf(last) : '') + '.';
	},

	// newLine returns the line that refuses at least 100 requests an hour now, and ten
	// times as many as in an hour of the day before; null if there is none, or if
	// counting began less than six hours ago.
	newLine: (live) => {
		if (state.now - Date.parse(live.summary.since) < 6 * 3600e3) return null;
		return ((live.lines && live.lines.lines) || []).find((l) => l.hour >= 100 && l.hour > 10 * (l.day - l.hour) / 23) || null;
	},
};
