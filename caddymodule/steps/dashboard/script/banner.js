// The banner answers in one sentence: what is wrong, who, which line; and what to do.
// The server knows most conditions: they are the problems that it reports.
const banner = {
	show: (live) => {
		const { mark, kind, text, todo, actions } = banner.of(live);
		if (replace(byId('banner'), JSON.stringify([mark, text, todo]), make('p', '', make('span', 'kind', kind), ' ', text), todo ? make('p', 'todo', mark === 'good' ? todo : 'What to do: ' + todo) : null)) byId('banner').className = 'note ' + mark;
		Object.assign(banner, { mark, kind, actions: actions || [] });
		connection(byId('offline').textContent);
	},

	mark: '', kind: '', actions: [], // how bad it is, its first words, and what can be done

	of: (live) => {
		const h = live.health, list = h.problems.map(banner.problem), trouble = list.filter((p) => p.mark === 'bad' || p.mark === 'warn'), shown = trouble.shift() || list.find((p) => !p.usual), rest = trouble.length + (h.more || 0);
		banner.problems = list.filter((p) => p !== shown);
		if (shown) return { ...shown, text: shown.text + (rest ? ' And ' + plural(rest, 'other problem', 'other problems') + ', below.' : '') };
		const modes = live.modes;
		if (modes.monitor && !modes.enforce && !modes.both) {
			const w = live.crawlers[state.span], would = (c) => c[state.span].would_deny + c[state.span].would_throttle, most = [...live.busiest_crawlers].sort((a, b) => would(b) - would(a))[0];
			return { mark: 'info', kind: 'Monitor mode:', text: 'nothing is refused. ' + plural(w.would_deny + w.would_throttle, 'request', 'requests') + ' would have been refused in the last ' + state.span + (most && would(most) ? ', most of them of ' + most.name : '') + '.', todo: 'Look at the refusals. If they are right, remove the line mode monitor.' };
		}
		if (!live.origins.origins) return { mark: 'info', kind: 'Nothing to show yet:', text: 'robots.txt is read at the first request to a site.' };
		return { mark: 'good', kind: 'All is well:', text: health.summary(live) + ' ' + (live.search[state.span].verified ? 'No search engine is refused by mistake.' : 'Nobody has been verified as a search engine.') };
	},

	problems: [], // all but that of the banner

	// problem returns what to show of a problem. Impostors are usual: they do not belong
	// into the banner.
	problem: (p) => {
		const [mark, kind] = { error: ['bad', 'Problem:'], warning: ['warn', 'Warning:'], note: p.message.startsWith('Handled: ') ? ['good', 'Handled:'] : ['info', 'Note:'] }[p.severity];
		const said = zoned(p.message).replace(/^Handled: /, ''), since = p.since && timeOf(Date.parse(p.since));
		const text = said + (since && !p.until && (mark === 'bad' || mark === 'warn') && !p.message.includes(' since ') && !said.includes(since) ? ' (since ' + since + ')' : '') + '.';
		return { mark, kind, text, todo: zoned(p.actions[0]?.text ? p.actions[0].what + '.' : p.advice), actions: p.actions, usual: p.kind === 'impostors' };
	},
};
