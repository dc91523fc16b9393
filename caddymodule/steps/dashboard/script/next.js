// What the operator can do about what the banner says. The server decides that.
const next = {
	show: () => {
		const [first, ...others] = banner.actions.some((a) => a.text) ? banner.actions : [];
		byId('next').hidden = !first;
		const more = others.length && make('details', '', make('summary', '', 'What else'), make('ul', 'steps', ...others.map((a) => make('li', '', ...next.step(a)))));
		if (more) more.open = !first.text;
		replace(byId('nextsteps'), JSON.stringify(banner.actions), ...(first ? [first.text ? make('div', '', ...next.step({ ...first, what: '' })) : null, more || null] : [])); // the banner says what
	},

	places: { command: 'Run this command:', caddyfile: 'Add these lines to the block robots of the Caddyfile:', site: 'Add these lines to the block of the site in the Caddyfile:', robots_txt: 'Write this into robots.txt:' },

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
