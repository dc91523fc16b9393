// Polling, and the parts of the page that belong to no panel.
const pause = 3000, longestPause = 30000; // milliseconds between two requests

// poll fetches new data, and calls itself again after a pause. It does nothing in a
// hidden tab, or while the operator has paused the page.
const poll = async () => {
	clearTimeout(state.timer);
	if (state.controller) state.controller.abort();
	state.controller = null; // what was begun before changes nothing any more
	if (document.hidden || state.paused) return;
	const controller = new AbortController();
	state.controller = controller;
	const question = { data: 'live', span: state.span, after: state.last, limit: 20 };
	if (state.origin) question.id = state.origin;
	const first = !state.sites.length; // the names of the sites are not known yet
	if (state.site && !first) question.site = state.site;
	else if (state.filter) question.name = state.filter;
	const asked = JSON.stringify(question);
	try {
		const { response, value } = await ask(question, asked === state.asked ? state.etag : '', controller.signal);
		Object.assign(state, { now: Date.parse(response.headers.get('Date') || '') || Date.now(), answered: Date.now() });
		if (first && value && state.site) {
			state.sites = value.sites.map((s) => s.name).sort();
			state.total = Object.values(value.modes).reduce((a, b) => a + b, 0);
			if (state.total) return poll();
		}
		if (value) {
			Object.assign(state, { live: value, asked, etag: response.headers.get('ETag') || '' });
			await show();
		} else {
			figures.show(state.live);
		}
		if (controller !== state.controller) return;
		state.failures = 0;
		connection('');
	} catch (error) {
		if (controller !== state.controller) return;
		// The site of a bookmark may be gone: show all sites.
		if (error.status === 404 && error.data === 'live' && state.site) return choose({ site: '' });
		state.failures++;
		connection(why(error));
	}
	state.timer = setTimeout(poll, Math.min(longestPause, pause * 2 ** Math.max(0, Math.min(state.failures - 2, 5))));
};

// why returns the text for an error.
const why = (error) => {
	const since = state.answered ? ' since ' + timeOf(state.answered, true) : '';
	if (error.status === 401 || error.status === 403) return 'The server no longer lets you see this page. Load it again to sign in.';
	if (error.status) return 'The server has an error' + since + ': ' + error.message + '. Trying again.';
	if (error instanceof TypeError || error.name === 'TimeoutError') return 'The server does not answer' + since + '. Trying again.';
	return 'This page has an error' + since + ': ' + error.message;
};

// connection shows whether the data is up to date. trouble is the text of an error.
const connection = (trouble) => {
	const box = byId('offline');
	box.hidden = !trouble;
	if (box.textContent !== trouble) box.textContent = trouble;
	byId('live').className = 'live ' + (trouble ? 'off' : state.paused ? '' : 'on ' + banner.mark);
	byId('updated').textContent = (state.paused ? 'Paused; ' : '') + (state.answered ? 'as of ' + timeOf(state.answered, true) : trouble ? 'no data yet' : 'Loading …');
};

// show shows the last answer.
const show = async () => {
	const live = state.live, { modes } = live;
	for (const e of document.querySelectorAll('[data-would]')) { // nothing is called refused where nothing is
		e.dataset.does ??= e.textContent;
		e.textContent = modes.monitor && !modes.enforce && !modes.both ? e.dataset.would : e.dataset.does;
	}
	sites.show(live);
	banner.show(live);
	next.show();
	health.show(live);
	sections.show(live);
	figures.show(live);
	chart.draw(chart.of(live.series));
	crawlers.show(live);
	denials.update(live);
	origins.show(live);
	byId('main').removeAttribute('aria-busy');
	await source.update(live);
};

// choose changes what is shown. The fragment of the URL keeps it over a reload, and
// the browser's Back returns to what was shown before.
const choose = (what) => {
	Object.assign(state, what);
	if ('site' in what) Object.assign(state, { refusals: [], last: 0, origin: '' });
	const shown = Object.entries({ span: state.span, site: state.site, crawler: state.crawler }).filter(([, value]) => value);
	history.pushState(null, '', '#' + new URLSearchParams(shown));
	if (state.live && 'crawler' in what) show();
	poll();
};

// restore shows what the fragment of the URL says.
const restore = () => {
	const kept = new URLSearchParams(location.hash.slice(1)), site = kept.get('site') || '';
	if (site !== state.site) Object.assign(state, { refusals: [], last: 0, origin: '' });
	Object.assign(state, { span: periods[kept.get('span')] ? kept.get('span') : 'hour', site, crawler: kept.get('crawler') || '' });
	for (const input of byId('period').querySelectorAll('input')) input.checked = input.value === state.span;
	poll();
};

const begin = () => {
	for (const input of byId('period').querySelectorAll('input')) input.addEventListener('change', () => choose({ span: input.value }));
	addEventListener('popstate', restore);
	byId('host').addEventListener('change', () => choose({ site: byId('host').value }));
	byId('pause').addEventListener('click', () => {
		state.paused = !state.paused;
		byId('pause').setAttribute('aria-pressed', state.paused);
		connection('');
		poll();
	});
	document.addEventListener('visibilitychange', poll);
	byId('zone').textContent = ', ' + Intl.DateTimeFormat().resolvedOptions().timeZone;
	chart.begin();
	sites.begin();
	for (const id of ['sites', 'crawlers', 'groups', 'denials', 'origins', 'folded']) roving(byId(id).tBodies ? byId(id).tBodies[0] : byId(id));
	crawlers.begin();
	source.begin();
	check.begin();
	restore();
};

begin();
