// The form that shows the decision about a User-Agent and a URL.
const check = {
	begin: () => byId('check').addEventListener('submit', check.submit),

	// absolute adds the origin of the robots.txt that is shown to a path.
	absolute: (url) => {
		if (/^https?:\/\//i.test(url)) return url;
		if (!url.startsWith('/')) return 'https://' + url;
		const origin = state.live && state.live.robots_txt.find((p) => p.id === state.origin);
		const site = origin && origin.sites.find((s) => !s.includes('*'));
		return ((origin && origin.origin) || (site ? 'https://' + site : location.origin)) + url;
	},

	submit: async (event) => {
		event.preventDefault();
		const form = new FormData(event.target), box = byId('verdict');
		const url = check.absolute(form.get('url').trim());
		box.replaceChildren(make('p', 'empty', 'Checking …'));
		try {
			const { value } = await ask({ data: 'check', ua: form.get('ua').trim(), url, client: form.get('client').trim() });
			box.replaceChildren(check.answer(value), ...check.others(value));
		} catch (error) {
			box.replaceChildren(make('p', '', 'It could not be checked: ' + error.message));
		}
	},

	answer: (c) => {
		const [word, mark] = actionOf(c.action), list = make('dl');
		const fact = (name, value) => value && list.append(make('dt', '', name), make('dd', '', value));
		fact('URL', c.url);
		fact('Handler', c.matcher && make('code', '', c.matcher));
		fact('Crawler', c.crawler && c.crawler + [c.class, c.purpose].filter(Boolean).map((s) => ', ' + s).join(''));
		fact('Reason', reasonOf(c.reason));
		fact('Group', c.group && c.group + (c.group_line ? ' (line ' + c.group_line + ')' : ''));
		fact('Rule', c.rule && make('code', '', c.rule));
		fact('Line', placeOf(c));
		fact('Parser', c.reading && 'google/robotstxt, which reads the file differently');
		fact('Rate limit', [c.crawl_delay ? 'one request in ' + c.crawl_delay + ' s' : '', ...(c.request_rates || []), ...(c.visit_times || [])].filter(Boolean).join('; '));
		fact('Limits', (c.limits || []).map((l) => l.rule + ' (line ' + l.line + ' of ' + (l.file || 'the configuration') + ')').join('; '));
		fact('Then', c.steps.join('; '));
		fact('Exempt', (c.exempt_from || []).join(', '));
		fact('Verification', c.verified === 'unverified' && 'a real request is verified by its address');
		return make('div', 'answer ' + mark, make('p', '', word.charAt(0).toUpperCase() + word.slice(1)), make('p', '', c.message), list);
	},

	// others shows the decisions of other robots handlers about the same request.
	others: (c) => {
		const list = c.others || [];
		if (!list.length) return [];
		const title = make('h3', '', 'Other robots handlers' + (c.more ? ' (' + plural(c.more, 'more is', 'more are') + ' not shown)' : ''));
		return [title, ...list.map(check.answer)];
	},
};
