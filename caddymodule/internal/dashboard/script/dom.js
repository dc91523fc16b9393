// Elements and words. Nothing here takes markup: what is shown comes from
// strangers, so it is only ever set as text.
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

// timeOf writes a time in milliseconds since 1970: today's without its date.
const timeOf = (ms, seconds) => {
	const at = new Date(ms);
	const text = (seconds ? clock : minute).format(at);
	return at.toDateString() === new Date().toDateString() ? text : day.format(at) + ', ' + text;
};

// ago writes how long ago a time was.
const ago = (ms, now) => {
	const s = Math.max(0, Math.round((now - ms) / 1000));
	if (s < 5) return 'just now';
	if (s < 90) return s + ' s ago';
	if (s < 5400) return Math.round(s / 60) + ' min ago';
	if (s < 129600) return Math.round(s / 3600) + ' h ago';
	return Math.round(s / 86400) + ' days ago';
};

const plural = (n, one, many) => count(n) + ' ' + (n === 1 ? one : many);

// replace sets the children of an element, unless they are the same as before
// by their key: then focus and selection stay.
const replace = (e, key, ...children) => {
	if (e.dataset.key === key) return false;
	e.dataset.key = key;
	e.replaceChildren(...children);
	return true;
};

// empty shows text in place of what is not there.
const empty = (id, text) => {
	const e = byId(id);
	e.hidden = !text;
	if (e.textContent !== text) e.textContent = text;
};

// reasons has what a decision's reason means.
const reasons = {
	allowed: 'no rule disallows it',
	disallowed: 'disallowed by robots.txt',
	impostor: 'not the crawler that it says it is',
	unavailable: 'robots.txt can’t be read',
	pending: 'robots.txt was not read yet',
	crawl_delay: 'faster than Crawl-delay',
	request_rate: 'more than Request-rate',
	visit_time: 'outside Visit-time',
	hidden: 'a hidden path',
	exempt: 'the crawler is exempt',
	exempt_path: 'the path is never refused',
	unbound: 'no group binds this crawler',
	no_policy: 'there are no rules',
	person: 'nothing binds it: a person, or a program that is not held to robots.txt',
	suspect: 'a robot that does not say so',
	grace: 'allowed before the last change of robots.txt',
};
const reasonOf = (r) => reasons[r] || r.replaceAll('_', ' ');

// actions has the word and the mark of an action.
const actions = {
	pass: ['let through', 'm-pass'],
	deny: ['denied', 'm-deny'],
	throttle: ['throttled', 'm-throttle'],
	would_deny: ['would be denied', 'm-deny'],
	would_throttle: ['would be throttled', 'm-throttle'],
};
const actionOf = (a) => actions[a] || [a, ''];

// layerOf says where a line stands.
const layerOf = (layer, line) => {
	if (!line) return '';
	if (layer === 'policy') return 'policy, line ' + line + ' of the configuration';
	if (layer === 'hidden') return 'hidden, line ' + line + ' of the configuration';
	return 'line ' + line;
};
