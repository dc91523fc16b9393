package audit

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// traps counts what a log can mislead by.
type traps struct {
	untimed   int64 // requests without a time
	back      int64 // times that went back by more than a minute
	heads     int64
	unchanged int64 // answers 304
	forwarded int64
	private   int64 // addresses of a private network
	masked    int64 // addresses that end in .0
	unclear   int64 // clients that are no address
	relative  int64 // targets that are none: hashed or masked
	hosted    int64 // requests with a host
	perSecond secondTally
}

// request notes what a request shows.
func (t *traps) request(e *entry) {
	switch {
	case e.method == http.MethodHead:
		t.heads++
	case e.status == http.StatusNotModified:
		t.unchanged++
	}
	if e.forwarded {
		t.forwarded++
	}
	if e.host != "" {
		t.hosted++
	}
	if e.target != "" && e.target[0] != '/' && e.target[0] != '*' && !strings.Contains(e.target, ":") {
		t.relative++
	}
	switch c := e.client; {
	case strings.HasPrefix(c, "10."), strings.HasPrefix(c, "192.168."), strings.HasPrefix(c, "127."), strings.HasPrefix(c, "172.1"), strings.HasPrefix(c, "172.2"), strings.HasPrefix(c, "172.3"),
		strings.HasPrefix(c, "fd"), c == "::1":
		t.private++
	}
	switch c := e.client; {
	case strings.HasSuffix(c, ".0"), strings.HasSuffix(c, "::"):
		t.masked++
	case !isAddress(c):
		t.unclear++
	}
}

// time notes that after the time clock came another one.
func (t *traps) time(clock, at int64) {
	if clock-at > reorder {
		t.back++
	}
	t.perSecond.add(at / 1e9)
}

// secondTally tells a log that was sampled: Caddy writes a fixed number of lines
// of a second, and few more.
type secondTally struct {
	second int64
	count  int
	counts [1024]int32 // seconds by their number of requests
}

func (t *secondTally) add(second int64) {
	if second == t.second {
		t.count++
		return
	}
	t.end()
	t.second, t.count = second, 1
}

func (t *secondTally) end() {
	if t.count > 0 {
		t.counts[min(t.count, len(t.counts)-1)]++
	}
}

// sampled reports whether the busiest seconds all have the same number of
// requests, which real traffic never shows.
func (t *secondTally) sampled() (limit int, ok bool) {
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

// warnings tells what the figures can't be relied on for.
func (a *auditor) warnings() []Warning {
	list := []Warning{}
	list = append(list, a.options.Warnings...)
	warn := func(code, format string, args ...any) {
		list = append(list, Warning{code, fmt.Sprintf(format, args...)})
	}
	a.warnOfInputs(warn)
	a.warnOfAddresses(warn)
	a.warnOfTimes(warn)
	t := &a.traps
	if t.heads+t.unchanged > 0 {
		warn("no_bodies", "HEAD requests: %d, answers 304 (Not Modified): %d. They count as requests, but no body was sent, so that octets are fewer than what was looked at.", t.heads, t.unchanged)
	}
	if t.forwarded > 0 {
		warn("cached", "%d requests came through a proxy or CDN. What it answered from its cache is not in this log.", t.forwarded)
	}
	if a.ownFetches > 0 {
		warn("own_fetches", "Caddy itself fetched robots.txt %d times (User-Agent %q). These requests are not counted.", a.ownFetches, enforce.FetcherUserAgent)
	}
	t.perSecond.end()
	t.perSecond.count = 0
	if n, ok := t.perSecond.sampled(); ok {
		warn("sampled", "Suspiciously many seconds have exactly %d requests: the log seems to be sampled, and then all figures are too low.", n)
	}
	if t.hosted == 0 && a.requests > 0 {
		warn("no_hosts", "The log does not tell which host a request was for. All of them are judged as those of one site.")
	}
	if t.relative > 0 {
		warn("masked_targets", "%d requests have no path: they seem to be hashed or masked, and no rule matches them.", t.relative)
	}
	if len(a.allSources()) == 0 {
		warn("no_robots", "No robots.txt is known for this log, so nothing is judged. Name one with --robots: a file, or a URL such as https://example.com.")
	} else if n := a.requests - a.judged; n > 0 {
		warn("partly_judged", "For %d requests no robots.txt is known: their host is none of the sites', or they came before the first version.", n)
	}
	a.warnOfSuspects(warn)
	if a.crawlers.evicted {
		warn("many_names", "There are more than %d names of robots that nobody has listed. The rare ones are counted together.", maxUnlisted)
	}
	if c := a.claims; c != nil {
		if !c.worked && c.failed > 0 {
			warn("verify_failed", "No claim could be verified: neither lists nor DNS answered.")
		} else if c.dropped > 0 {
			warn("verify_incomplete", "%d claims of crawlers were not looked up: there were too many, or it took too long.", c.dropped)
		}
		if old := a.options.Now().Sub(time.Unix(0, a.first)); a.timed && old > 3*24*time.Hour {
			warn("verify_old", "The log is %d days old. Lists of addresses are those of today: they confirm crawlers, and call nobody an impostor.", int(old.Hours()/24))
		}
	}
	return list
}

func (a *auditor) warnOfInputs(warn func(string, string, ...any)) {
	for _, in := range a.seq.all {
		if in.cut != nil {
			warn("cut_input", "%s ends too early, or is damaged: %v. What comes before was read.", in.file.Name, in.cut)
		}
		if in.formats != nil && in.formats.mixed {
			warn("mixed_formats", "%s has lines of several formats.", in.file.Name)
		}
	}
}

func (a *auditor) warnOfAddresses(warn func(string, string, ...any)) {
	addresses, _ := a.addresses.count()
	t := &a.traps
	switch {
	case a.requests >= 200 && (addresses <= 3 || a.requests/max(addresses, 1) >= 2000):
		warn("few_addresses", "There are only %d client addresses for %d requests: they seem to be those of a proxy or CDN. Then verification accuses nobody, and what is counted by address is not reliable.", addresses, a.requests)
	case a.requests >= 20 && t.private*10 >= a.requests*9:
		warn("few_addresses", "Nearly all client addresses are of a private network: they seem to be those of a proxy. Then verification can't tell anything, and what is counted by address is not reliable.")
	}
	switch {
	case a.requests >= 20 && t.masked*10 >= a.requests*9:
		warn("masked_addresses", "The addresses in the log are masked: claims can't be verified, and clients of one network count as one.")
	case t.unclear*10 >= a.requests*9 && a.requests > 0:
		warn("masked_addresses", "The clients in the log are no IP addresses, but names or hashes: claims can't be verified.")
	}
}

func (a *auditor) warnOfTimes(warn func(string, string, ...any)) {
	zoneless, coarse := int64(0), int64(0)
	for _, in := range a.seq.all {
		zoneless += in.zoneless
		coarse = max(coarse, in.coarse)
	}
	if zoneless > 0 && a.options.Zone == nil {
		warn("no_zone", "The times of %d requests have no zone and were taken for UTC. Give the right one with --zone.", zoneless)
	}
	if coarse >= int64(time.Second) {
		warn("coarse_times", "Times are exact to %s. A Crawl-delay below %s is not judged.", time.Duration(coarse), max(leastDelay, 2*time.Duration(coarse)))
	}
	if n := a.traps.back; n > 0 {
		warn("time_back", "%d times lie more than a minute before one that stands earlier in the log. Figures about pace are not reliable.", n)
	}
	if n := a.traps.untimed; n > 0 {
		warn("no_times", "%d requests have no time. Their pace is not judged.", n)
	}
}

// verified reports whether claims were verified.
func (a *auditor) verified() bool {
	for _, s := range a.sites {
		if s.Rules.Verification != nil {
			return true
		}
	}
	return false
}
