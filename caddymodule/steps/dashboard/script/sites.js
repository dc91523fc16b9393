// The table of sites, the worst first, where the page is for several. The server filters
// and sorts it, and sends only its first rows.
const siteStates = {
	loaded: 'in force', missing: 'no robots.txt', not_robots: 'not a robots.txt', forbidden: 'access refused', failed: 'can’t be fetched', pending: 'not fetched yet', mistake: 'a line does nothing', no_rules: 'no rules in force', robots_txt: 'robots.txt has a problem',
	policy: 'policy not in force', mode: 'mode was set', rules_lost: 'rules lost', search_shut_out: 'search shut out', search_refused: 'search refused',
};

const sites = {
	begin: () => {
		let timer = 0;
		byId('sitefilter').addEventListener('input', () => {
			state.filter = byId('sitefilter').value.trim();
			clearTimeout(timer);
			timer = setTimeout(poll, 250);
		});
	},

	show: (live) => {
		const { sites: rows, modes } = live, total = Object.values(modes).reduce((a, b) => a + b, 0);
		if (!state.site) state.total = total;
		if (!state.site && !state.filter) state.sites = rows.map((s) => s.name).sort();
		byId('sitespanel').hidden = state.total < 2 || !!state.site;
		byId('sitesunit').textContent = count(state.total) + ', the worst first';
		byId('of').textContent = (state.total === 1 ? 'of ' + (state.sites[0] === '*' ? 'all hosts' : state.sites[0]) : '') + (live.servers ? ' on ' + live.servers + ' servers' : '');
		const names = state.site && !state.sites.includes(state.site) ? [...state.sites, state.site] : state.sites;
		byId('hostfield').hidden = state.total < 2;
		replace(byId('host'), names.join() + state.total, ...[['', 'all ' + count(state.total)], ...names.map((s) => [s, siteName(s)])].map(([value, name]) => {
			const option = make('option', '', name);
			option.value = value;
			return option;
		}));
		byId('host').value = state.site;
		
		empty('sitesempty', !rows.length ? 'No site has this text in its name.' : state.filter || rows.length === total ? '' : plural(total - rows.length, 'more site', 'more sites') + ': type a part of the name.');
		replace(byId('sites').tBodies[0], JSON.stringify([rows, state.span]), ...rows.map(sites.row));
		fold(byId('sites'));
	},

	row: (s) => {
		const button = make('button', 'link', siteName(s.name)), name = make('th', '', button), would = s.would_deny + s.would_throttle, refused = s.denied + s.throttled + would;
		button.type = 'button';
		button.addEventListener('click', () => choose({ site: s.name, crawler: '' }));
		name.scope = 'row';
		return make('tr', '', name,
			make('td', s.ok ? '' : 'some-deny', (siteStates[s.state] || s.state.replaceAll('_', ' ')) + (s.mode === 'monitor' ? ', monitor' : s.mode === 'both' ? ', partly monitor' : s.mode === 'off' ? ', no handler' : '')),
			make('td', 'num', count(s.minute)),
			make('td', 'num' + (refused ? '' : ' none'), s.requests ? Math.round(refused / s.requests * 100) + ' %' : '–', would ? ' would' : ''),
			make('td', 'num' + (s.search_refused ? ' some-deny' : ' none'), count(s.search_refused || 0)));
	},
};
