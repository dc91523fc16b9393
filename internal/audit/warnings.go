package audit

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// warner adds a warning to the report if it is necessary.
type warner func(necessary bool, code, format string, args ...any)

// warnings returns the warnings of the report.
func (a *auditor) warnings(r *Report) []Warning {
	list := append([]Warning{}, a.options.Warnings...)
	warn := func(necessary bool, code, format string, args ...any) {
		if necessary {
			list = append(list, Warning{code, fmt.Sprintf(format, args...)})
		}
	}
	for _, l := range a.logs.Logs {
		warn(l.Cut != nil, "cut_input", "%s ends too early or is damaged: %v. The lines before that were read.", l.Name, l.Cut)
	}
	a.warnOfAddresses(warn)
	a.warnOfTimes(warn)
	t := &a.reliability
	warn(a.inputs.ownFetches > 0, "own_fetches",
		"Fetches of robots.txt by Caddy or one of its commands (User-Agent %q): %d. They are not counted as requests.", origins.FetcherUserAgent,
		a.inputs.ownFetches)
	limit, sampled := t.perSecond.sampled()
	warn(sampled, "sampled", "Unusually many seconds have exactly %d requests: the log seems to be sampled. Then all figures are too low.",
		limit)
	warn(t.hosted == 0 && (r.WouldHave.Judged > 0 || len(r.Sources) == 0) && a.inputs.requests > 0, "no_hosts",
		"The log does not have the hosts of requests. All requests are judged as those of one site.")
	known, n := len(r.Sources) > 0, r.Requests-r.WouldHave.Judged
	warn(!known && a.decided == nil, "no_robots",
		"No robots.txt is known for this log, so no request is judged. Pass one with --robots: a file, or a URL such as https://example.com.")
	warn(known && n > 0 && a.decided == nil, "partly_judged", "Requests that are not judged: %s. No robots.txt is known for their host or their time.", words.Count(n))
	warn(r.Costs.Timed > 0 && r.Costs.Untimed() != "", "partly_timed", "%s", r.Costs.Untimed())
	warn(!r.Strangers.Known && a.strangers.coarse >= lonelyRequests, "no_strangers",
		"Pages of addresses that request nothing else are not counted: the times of requests are not exact to a second.")
	warn(r.doubt(a.strangers) != "", "no_strangers", "%s", r.doubt(a.strangers))
	warn(len(a.crawlers.rest) > 0, "many_names",
		"There are more than %d different robots that are not in the registry. Those that came last are counted together.", maxUnlisted)
	if c := a.claims; c != nil {
		failed := !c.worked.Load() && c.failed.Load() > 0
		warn(failed, "verify_failed", "No crawler could be verified: neither the published lists nor DNS answered.")
		warn(!failed && c.dropped > 0, "verify_incomplete",
			"%d addresses of crawlers were not looked up: there were too many, or it took too long.", c.dropped)
		if from := r.Period.From; !failed && from != nil && a.options.Now().Sub(*from) > 3*24*time.Hour {
			warn(true, "verify_old",
				"The log is %d days old, but the published address lists are those of today. They can verify a crawler, but an "+
					"address that is not in them does not count as an impostor's.", int(a.options.Now().Sub(*from).Hours()/24))
		}
	}
	return list
}

func (a *auditor) warnOfAddresses(warn warner) {
	t, requests := &a.reliability, a.inputs.requests
	addresses := t.addresses.Count()
	nearlyAll := func(n int64) bool { return n*10 >= requests*9 }
	none := requests > 0 && nearlyAll(t.nameless)
	warn(none, "few_addresses", "The log does not have the addresses of clients: crawlers cannot be verified, and figures by address mean nothing.")
	few := !none && t.few(requests)
	warn(few, "few_addresses",
		"Client addresses: only %s for %s requests. They seem to be those of a proxy or CDN: let the server "+
			"log those of clients (Caddy: trusted_proxies, nginx: real_ip_header). Else no client counts as an impostor, and figures by address are not reliable.", words.Count(addresses), words.Count(requests))
	warn(!none && !few && requests >= 20 && nearlyAll(t.private), "few_addresses",
		"Nearly all client addresses are private: they seem to be those of a proxy. Then crawlers cannot be verified, and "+
			"figures by address are not reliable.")
	masked := requests >= 20 && nearlyAll(t.masked)
	warn(masked, "masked_addresses",
		"The addresses in the log are masked: crawlers cannot be verified, and all clients of one network count as one.")
	warn(!masked && requests > 0 && nearlyAll(t.unclear), "masked_addresses",
		"The clients in the log are names or hashes instead of IP addresses: crawlers cannot be verified.")
}

// few reports whether the addresses seem to be those of a proxy.
func (t *reliability) few(requests int64) bool {
	n := t.addresses.Count()
	return requests >= 200 && (n <= 3 || requests/max(n, 1) >= 2000)
}

// hides reports whether proxies with few or private addresses seem to have sent so many of the requests that
// figures by address mean nothing.
func (t *reliability) hides(requests int64) bool {
	f := &t.forwarded
	return t.few(requests) || f.requests >= 20 && 10*f.private >= requests && f.addresses.Count() > 1
}

// proxied says that the clients of the log are proxies, and how to count by those that they name; it has no
// text if they do not seem to be.
func (r *Report) proxied(t *reliability) Finding {
	f, all := &t.forwarded, t.addresses.Count()
	others := f.addresses.Count()
	isProxy := t.hides(r.Requests) && others > 1 || 10*f.requests >= 9*r.Requests && others >= 2*all
	if f.requests < 20 || 10*f.requests < r.Requests || !isProxy {
		return Finding{}
	}
	return Finding{
		Code: "proxied",
		Text: fmt.Sprintf("The addresses of clients seem to be those of a proxy: the log has %s, and %s of %s name others, about %s, in X-Forwarded-For. "+
			"Until these count, figures by address mean nothing.",
			words.Plural(all, "address", "addresses"), words.Count(f.requests), requests(r.Requests), words.Count(others)),
		Change: "If the proxy is yours, run this command again with --trusted-proxies and its address or network; private_ranges stands for all " +
			"private addresses. Then the last address in X-Forwarded-For that is no proxy's is the client's.",
	}
}

func (a *auditor) warnOfTimes(warn warner) {
	zoneless, coarse := int64(0), int64(0)
	for i := range a.inputs.each {
		zoneless += a.inputs.each[i].zoneless
		coarse = max(coarse, a.inputs.each[i].coarse)
	}
	warn(zoneless > 0 && a.options.Zone == nil, "no_zone",
		"Requests whose time has no time zone: %s. The time was read as UTC. If it is not UTC, pass the zone with --zone.", words.Count(zoneless))
	warn(coarse >= int64(time.Second) && a.decided == nil, "coarse_times", "Times are exact to %s. A Crawl-delay below %s is not judged.",
		words.Seconds(float64(coarse)/1e9), words.Seconds(max(minDelay, 2*time.Duration(coarse)).Seconds()))
}

// reliability counts the requests that make figures unreliable.
type reliability struct {
	addresses Distinct // of clients
	private   int64    // addresses that no client on the internet has
	masked    int64    // addresses that end in .0 or ::
	nameless  int64    // requests without a client
	unclear   int64    // clients that are names or hashes
	hosted    int64    // requests with a host
	perSecond secondTally
	// forwarded are other addresses than that of the client for which proxies sent requests, by their
	// number and that of the requests, and private the requests that came from private addresses.
	forwarded struct {
		addresses         Distinct
		requests, private int64
	}
}

// count counts a request.
func (t *reliability) count(e *logformat.Entry) {
	t.addresses.Add(xxhash.Sum64String(e.Client))
	if e.Timed {
		t.perSecond.add(e.At / 1e9)
	}
	addIf(&t.hosted, e.Host != "", 1)
	addr, err := netip.ParseAddr(e.Client)
	isPrivate := err == nil && netaddr.IsSpecial(netaddr.Unmap(addr))
	addIf(&t.private, isPrivate, 1)
	if client := e.ForwardedClient(netaddr.IsSpecial); client != "" && client != e.Client {
		t.forwarded.addresses.Add(xxhash.Sum64String(client))
		t.forwarded.requests++
		addIf(&t.forwarded.private, isPrivate, 1)
	}
	isMasked := isMaskedAddress(e.Client)
	addIf(&t.masked, isMasked, 1)
	addIf(&t.nameless, e.Client == "", 1)
	addIf(&t.unclear, err != nil && !isMasked && e.Client != "", 1)
}

// isMaskedAddress reports whether a client's address seems to stand for those of a network.
func isMaskedAddress(client string) bool {
	return strings.HasSuffix(client, ".0") || strings.HasSuffix(client, "::")
}

// secondTally detects a log that was sampled: Caddy then writes only a fixed number of
// lines per second, and few more.
type secondTally struct {
	second int64
	count  int
	counts [1024]int32 // numbers of seconds, by their number of requests
}

// add counts a request in a second. Requests of the same second come in a row.
func (t *secondTally) add(second int64) {
	if second == t.second {
		t.count++
		return
	}
	t.end()
	t.second, t.count = second, 1
}

// end counts the current second.
func (t *secondTally) end() {
	t.counts[min(t.count, len(t.counts)-1)]++
}

// sampled reports whether many of the busiest seconds have the same, largest number of
// requests. Traffic that was not sampled does not look like that.
func (t *secondTally) sampled() (limit int, ok bool) {
	t.end()
	most := len(t.counts) - 1
	for most > 0 && t.counts[most] == 0 {
		most--
	}
	busy := int32(0)
	for i := (most + 1) / 2; i <= most; i++ {
		busy += t.counts[i]
	}
	return most, most >= 5 && most < len(t.counts)-1 && t.counts[most] >= 20 && t.counts[most]*3 >= busy
}
