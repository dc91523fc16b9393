// What the page knows: what the operator chose, and what the server said last.
const state = {
	span: 'hour', site: '', policy: '',
	sites: [], // all that may be shown
	live: null, etag: '', asked: '', // the last answer, its entity tag, and its question
	refusals: [], last: 0, // newest first, and the highest number among them
	monitor: false, // no site enforces
	now: 0, answered: 0, failures: 0, // times in milliseconds: the server's of its last answer, and this browser's
	paused: false, timer: 0, controller: null,
};

// here is this page's own URL, whatever its path is; without credentials, which
// fetch refuses in a URL.
const here = location.origin + location.pathname;

// ask gets data.
const ask = async (parameters, etag, signal) => {
	const response = await fetch(here + '?' + new URLSearchParams(parameters), {
		cache: 'no-store', credentials: 'same-origin', redirect: 'error', signal,
		headers: etag ? { Accept: 'application/json', 'If-None-Match': etag } : { Accept: 'application/json' },
	});
	if (response.status === 304) return { response };
	const isJSON = (response.headers.get('Content-Type') || '').startsWith('application/json');
	const value = isJSON ? await response.json() : null;
	if (!response.ok || !value) {
		const error = new Error((value && value.error) || 'it answers ' + response.status);
		throw Object.assign(error, { status: response.status, data: parameters.data });
	}
	return { response, value };
};
