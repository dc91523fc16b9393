// What the operator can do about the crawler that is chosen, or about what the banner
// says. The server decides that.
const next = {
	show: (live) => {
		const row = live.crawlers.crawlers.find((c) => c.name === state.crawler), list = state.crawler ? (row && row.actions) || [] : banner.actions;
		const [first, ...others] = state.crawler || list.some((a) => a.text) ? list : [];
		byId('next').hidden = !first && !state.crawler;
		byId('nextall').hidden = !state.crawler;
		byId('h-next').firstChild.textContent = 'What next' + (state.crawler ? ': ' + state.crawler : '') + ' ';
		const more = others.length ? make('details', '', make('summary', '', 'What else'), make('ul', 'steps', ...others.map((a) => make('li', '', ...next.step(a))))) : null;
		const one = first && (state.crawler ? first : { ...first, what: '' }); // the banner says what
		replace(byId('nextsteps'), JSON.stringify([list, state.crawler]), ...(first ? [one.text || one.what ? make('div', '', ...next.step(one)) : null, more] : []));
	},

	places: { command: 'Run this command:', caddyfile: 'Add these lines to the block robots of the Caddyfile:', robots_txt: 'Write this into robots.txt:' },

	step: ({ what, text, where }) => {
		const words = what && what.replace(/[.]?$/, '.');
		if (!text) return [make('p', '', words)];
		const code = make('pre', '', text), button = make('button', 'copy', 'Copy');
		button.type = 'button';
		button.setAttribute('aria-label', 'Copy: ' + (what || text));
		button.addEventListener('click', async () => {
			getSelection().selectAllChildren(code); // for browsers that do not let the page copy
			try {
				await navigator.clipboard.writeText(text);
				button.textContent = 'Copied';
			} catch {
				button.textContent = 'Press Ctrl+C';
			}
		});
		return [make('p', '', (words && words + ' ') + next.places[where]), make('div', 'snippet', code, button)];
	},
};

// While no crawler has come: requests to try, in place of the charts.
const first = {
	show: (live) => {
		const e = live.summary.empty, shown = ['chart', 'readout', 'changes'].map(byId);
		byId('first').hidden = !e;
		for (const part of shown) part.hidden = Boolean(e);
		byId('charttable').parentElement.hidden = Boolean(e);
		if (!e) return;
		empty('chartempty', '');
		replace(byId('first'), JSON.stringify(e), make('p', '', e.message), make('ul', 'steps', ...e.sites.map((s) => make('li', '', make('p', '', make('b', '', s.site), ' ' + s.refuses + '.'), ...next.step(s.try)))));
	},
};
