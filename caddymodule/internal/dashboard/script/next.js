// What the operator can do about the crawler that is chosen, or that the banner is
// about, with texts to copy. Only names of the registry are in them: a client can send
// any other name.
const next = {
	show: (live) => {
		const name = state.crawler || banner.who, row = name && live.crawlers.crawlers.find((c) => c.name === name);
		const box = byId('next');
		box.hidden = !row;
		if (!row) return replace(byId('nextsteps'), '');
		byId('h-next').firstChild.textContent = 'What next: ' + row.name + ' ';
		byId('nextall').hidden = !state.crawler;
		const steps = next.steps(row, state.site || (state.sites.length === 1 ? state.sites[0] : ''));
		replace(byId('nextsteps'), JSON.stringify(steps), ...steps.map(next.step));
	},

	steps: (row, site) => {
		const steps = [], name = /^[\w.-]+$/.test(row.name) ? row.name : JSON.stringify(row.name), search = row.purposes.includes('search'), n = row[state.span];
		if (row.known && search && n.verified && n.verified_refused) {
			steps.push(['Never refuse it where its claim is verified: a line for the robots block', 'exempt ' + name]);
		}
		if (row.known && !search) {
			if (/^[A-Za-z_-]+$/.test(row.name)) steps.push(['Deny it the whole site: a group for robots.txt', 'User-agent: ' + row.name + '\nDisallow: /']);
			steps.push(['Slow it down: a statement for policy in the robots block', 'policy {\n\tdelay ' + name + ' 10s\n}']);
			steps.push(['Deny it, and publish that in robots.txt: a statement for policy in the robots block', 'policy {\n\tdeny ' + name + '\n}']);
		}
		if (!row.known) steps.push(['The registry does not have this name, and every client can send it', '']);
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
