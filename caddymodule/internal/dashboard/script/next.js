// What the operator can do about the crawler that is chosen, or that the banner is
// about, with texts to copy. Only names of the registry are in them: a client can send
// any other name.
const next = {
	show: (live) => {
		const name = state.crawler || banner.who, row = name && live.crawlers.crawlers.find((c) => c.name === name);
		const box = byId('next'), many = banner.many && name === banner.who;
		box.hidden = !row && !many;
		if (box.hidden) return replace(byId('nextsteps'), '');
		byId('h-next').firstChild.textContent = 'What next: ' + (name === 'all' ? 'all robots together' : name) + ' ';
		byId('nextall').hidden = !state.crawler;
		const steps = next.steps(row, many, state.site || (state.sites.length === 1 ? state.sites[0] : ''));
		replace(byId('nextsteps'), JSON.stringify(steps), ...steps.map(next.step));
	},

	// escaped returns a path as robots.txt and a Caddyfile may have it: without
	// characters that mean something there.
	escaped: (path) => path.replaceAll(/[^A-Za-z0-9/._~%-]|%(?![0-9A-Fa-f]{2})/gu, (c) => [...new TextEncoder().encode(c)].map((b) => '%' + b.toString(16).toUpperCase().padStart(2, '0')).join('')),

	// limits returns the limits that would hold requests that are too many: those of
	// one crawler if row is set, and those of several crawlers with the same paths.
	limits: (row, many) => {
		const paths = new Map(); // numbers of requests, by crawler, by path pattern
		for (const r of state.refusals.filter((r) => r.path)) {
			const pattern = denials.patternOf(r.path), by = paths.get(pattern) || new Map();
			paths.set(pattern, by.set(r.crawler, (by.get(r.crawler) || 0) + 1 + (r.omitted || 0)));
		}
		const limit = (pattern, line) => 'limit ' + (pattern === '/*' ? '' : next.escaped(pattern.slice(0, -1)) + '* ') + '{\n\t' + line + '\n}';
		const steps = [], sum = (list) => list.reduce((a, b) => a + b, 0), own = [...paths].map(([pattern, by]) => [pattern, row ? by.get(row.name) || 0 : sum([...by.values()])]).sort((a, b) => b[1] - a[1]);
		const pattern = own.length && own[0][1] >= .9 * sum(own.map((p) => p[1])) && own[0][1] ? own[0][0] : '/*';
		if (many) steps.push([row ? 'Limit how often each crawler comes, whatever its name: lines for the robots block' : 'Limit what crawlers request together: lines for the robots block', limit(pattern, row ? 'each 10/1m' : 'all 60/1m')]);
		const [shared] = [...paths].filter(([, by]) => by.size > 3).sort((a, b) => b[1].size - a[1].size);
		if (shared && row) steps.push([plural(shared[1].size, 'crawler', 'crawlers') + ' come to the same paths. Limit what they request together: lines for the robots block', limit(shared[0], 'all 30/1m')]);
		return steps;
	},

	steps: (row, many, site) => {
		const search = row && row.purposes.includes('search'), steps = search ? [] : next.limits(row, many), name = row && (/^[\w.-]+$/.test(row.name) ? row.name : JSON.stringify(row.name));
		if (row && row.known && search && row.counts.verified && row.counts.verified_refused) {
			steps.push(['Never refuse it where its claim is verified: a line for the robots block', 'exempt ' + name]);
		}
		if (row && row.known && !search) {
			if (/^[A-Za-z_-]+$/.test(row.name)) steps.push(['Deny it the whole site: a group for robots.txt', 'User-agent: ' + row.name + '\nDisallow: /']);
			steps.push(['Slow it down: a statement for policy in the robots block', 'policy {\n\tdelay ' + name + ' 10s\n}']);
			steps.push(['Deny it, and publish that in robots.txt: a statement for policy in the robots block', 'policy {\n\tdeny ' + name + '\n}']);
		}
		if (row && !row.known) steps.push(['The registry does not have this name, and every client can send it', '']);
		steps.push(['Refuse nothing ' + (site ? 'at this site' : 'at all sites') + ' until the next load: a command',
			"curl -X POST 'http://localhost:2019/robots/mode?mode=monitor" + (site && site !== '*' ? '&site=' + encodeURIComponent(site).replaceAll("'", '%27') : '') + "'"]);
		return steps;
	},

	step: ([what, text]) => {
		if (!text) return make('li', '', make('p', '', what + '.'));
		const code = make('pre', '', text), button = make('button', 'copy', 'Copy');
		button.type = 'button';
		button.setAttribute('aria-label', 'Copy: ' + what);
		button.addEventListener('click', async () => {
			getSelection().selectAllChildren(code); // for browsers that do not let the page copy
			try {
				await navigator.clipboard.writeText(text);
				button.textContent = 'Copied';
			} catch {
				button.textContent = 'Press Ctrl+C';
			}
		});
		return make('li', '', make('p', '', what + ':'), make('div', 'snippet', code, button));
	},
};
