// Elements and texts. The data may come from attackers, so it is always set as text,
// never as markup.
const byId = (id) => document.getElementById(id);

// make returns an element with a class and children: elements, or text.
const make = (name, className, ...children) => {
	const e = document.createElement(name);
	if (className) e.className = className;
	for (const c of children) {
		if (c !== null && c !== undefined && c !== '') e.append(c instanceof Node ? c : String(c));
	}
	return e;
};

const number = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const count = (n) => (n < 100000 ? number.format(n) : short.format(n));
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const minute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

// timeOf formats a time in milliseconds since 1970. It leaves out the date of today.
const timeOf = (ms, seconds) => {
	const at = new Date(ms);
	const text = (seconds ? clock : minute).format(at);
	return at.toDateString() === new Date().toDateString() ? text : day.format(at) + ', ' + text;
};

// zoned returns a message of the server with its times, which are in UTC, in the
// browser's time zone: a sentence has only one.
const zoned = (text) => text.replaceAll(/(?:(\d{1,2} [A-Z][a-z]+) )?(\d\d:\d\d) UTC/g, (all, date, time) => {
	const now = new Date(state.now), year = now.getUTCFullYear();
	const at = Date.parse((date ? date + ' ' + year : now.toUTCString().slice(5, 16)) + ' ' + time + ' UTC');
	return isNaN(at) ? all : timeOf(at);
});

const siteName = (name) => (name === '*' ? 'other hosts' : name);

const plural = (n, one, many) => count(n) + ' ' + (n === 1 ? one : many);

// replace sets the children of an element, unless key is the same as the last time.
// Children that stay the same stay in place, so that focus and selection do too. If
// the child with the focus changes, the control at its place gets the focus.
const controls = 'a, button, input, select, summary';
const replace = (e, key, ...children) => {
	if (e.dataset.key === key) return false;
	e.dataset.key = key;
	const focus = e.contains(document.activeElement) && e !== document.activeElement ? document.activeElement : null;
	const at = [...e.querySelectorAll(controls)].indexOf(focus);
	const like = (child) => child.className + ' ' + child.textContent;
	const kept = new Map([...e.children].map((child) => [like(child), child]));
	const wanted = children.filter(Boolean).map((child) => {
		const old = kept.get(like(child));
		kept.delete(like(child));
		return old && old.isEqualNode(child) ? old : child;
	});
	for (const child of [...e.childNodes]) if (!wanted.includes(child)) child.remove();
	wanted.forEach((child, i) => { if (e.children[i] !== child) e.insertBefore(child, e.children[i] || null); });
	if (focus && !e.contains(focus)) [...e.querySelectorAll(controls)][at]?.focus({ preventScroll: true });
	return true;
};

// fold hides the rows of a table after the first ten behind a button, but the chosen one.
const foldAfter = 10;
const fold = (table) => {
	const rows = [...table.tBodies[0].rows], more = rows.length - foldAfter;
	rows.forEach((row, i) => { row.hidden = !table.dataset.open && i >= foldAfter && !row.classList.contains('chosen'); });
	let button = table.nextElementSibling;
	if (!button) {
		button = make('button', 'link');
		button.type = 'button';
		button.addEventListener('click', () => {
			table.dataset.open = table.dataset.open ? '' : 'yes';
			fold(table);
		});
		table.after(button);
	}
	button.hidden = more <= 0 || table.hidden;
	button.textContent = table.dataset.open ? 'Show the first ten' : 'Show ' + count(more) + ' more';
};

// roving makes the buttons of a list one stop of the Tab key. The arrow keys move between
// them.
const roving = (box) => {
	const all = () => [...box.querySelectorAll('button')].filter((b) => b.getClientRects().length);
	const rest = (at) => { for (const b of all()) b.tabIndex = b === at ? 0 : -1; };
	new MutationObserver(() => rest(all().find((b) => b === document.activeElement) || all()[0])).observe(box, { childList: true, subtree: true });
	box.addEventListener('focusin', (event) => rest(event.target));
	box.addEventListener('keydown', (event) => {
		const list = all(), at = list.indexOf(document.activeElement);
		const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: list.length - 1 }[event.key];
		if (at < 0 || to === undefined) return;
		event.preventDefault();
		list[Math.min(list.length - 1, Math.max(0, to))].focus();
	});
};

// empty shows a text in place of missing data; '' hides it.
const empty = (id, text) => {
	const e = byId(id);
	e.hidden = !text;
	if (e.textContent !== text) e.textContent = text;
};

// reasons has the meaning of each reason of a decision.
const reasons = {
	allowed: 'no rule disallows it',
	disallowed: 'disallowed by robots.txt',
	impostor: 'an impostor: not the crawler that it claims to be',
	unavailable: 'robots.txt can’t be read',
	pending: 'robots.txt was not fetched yet',
	crawl_delay: 'faster than Crawl-delay',
	request_rate: 'more than Request-rate',
	visit_time: 'outside Visit-time',
	limit: 'over a limit in the configuration',
	hidden: 'a hidden path',
	exempt: 'the crawler is exempt',
	exempt_path: 'the path is never refused',
	unbound: 'no group applies to this crawler',
	not_crawling: 'no crawling: it changes something or sends credentials',
	federation: 'a signed request of a Fediverse server that got an ActivityPub document',
	no_rules: 'there are no rules',
	no_handler: 'no robots handler decides about this URL',
	person: 'robots.txt does not apply: a person, or a program that it is not enforced for',
	shed: 'the server is busy and serves people first',
	challenge: 'strangers storm the path: a browser shows that it is one',
	challenge_limit: 'strangers storm the path, and more come with the name of this crawler than over allows',
	grace: 'allowed before the last change of robots.txt',
};
const reasonOf = (r) => reasons[r] || r.replaceAll('_', ' ');

// actions has the text and the mark of each action.
const actions = {
	pass: ['passed', 'm-pass'],
	deny: ['denied', 'm-deny'],
	throttle: ['throttled', 'm-throttle'],
	would_deny: ['would be denied', 'm-would'],
	would_throttle: ['would be throttled', 'm-would'],
	challenge: ['asked', 'm-throttle'],
	would_challenge: ['would be asked', 'm-would'],
};
const actionOf = (a) => actions[a] || [a, ''];

// inText reports whether the line that decided is in the robots.txt in force, and not
// only in the configuration.
const inText = (r) => r.layer === 'file' || r.layer === 'policy';

// placeOf returns the place of the line that decided, with its layer if its rule does not name that.
const placeOf = (r) => {
	if (!r.line) return '';
	if (r.layer && r.layer !== 'file') return (r.rule?.startsWith(r.layer) ? '' : r.layer + ', ') + 'line ' + r.line + ' of ' + (r.file || 'the configuration');
	return 'line ' + r.line + (r.file && r.file !== 'robots.txt' ? ' of ' + r.file : '');
};
