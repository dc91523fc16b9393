// The state of the page: the operator's choices, and the last data of the server.
const state = {
	span: 'hour', site: '', crawler: '', origin: '', filter: '',
	sites: [], total: 0, // the worst of the sites that the page may show, and the number of all
	live: null, etag: '', asked: '', // the last answer, its entity tag, and the parameters of its request
	refusals: [], last: 0, // newest first, and the highest Seq
	now: 0, answered: 0, failures: 0, // the time of the last answer in milliseconds since 1970, by the server's and the browser's clock
	paused: false, timer: 0, controller: null,
};

// here is the URL of this page, without credentials: fetch does not accept them.
const here = location.origin + location.pathname;

const patience = 10000; // milliseconds that an answer may take

// ask fetches data. Without new data, it returns no value. It fails when the answer
// takes too long.
const ask = async (parameters, etag, stop) => {
	const signals = [AbortSignal.timeout(patience)];
	if (stop) signals.push(stop);
	const signal = AbortSignal.any(signals);
	const response = await fetch(here + '?' + new URLSearchParams(parameters), {
		cache: 'no-store', credentials: 'same-origin', redirect: 'error', signal,
		headers: etag ? { Accept: 'application/json', 'If-None-Match': etag } : { Accept: 'application/json' },
	});
	if (response.status === 304) return { response };
	const isJSON = (response.headers.get('Content-Type') || '').startsWith('application/json');
	const value = isJSON ? await response.json() : null;
	if (!response.ok || !value) {
		const error = new Error((value && value.error) || 'the status is ' + response.status);
		throw Object.assign(error, { status: response.status, data: parameters.data });
	}
	return { response, value };
};
