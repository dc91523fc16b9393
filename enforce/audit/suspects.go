package audit

import (
	"cmp"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/suspect"
)

// SuspectRules are how a site looks for robots that send a browser's User-Agent.
type SuspectRules struct {
	Traps []suspect.Trap
	Bind  bool          // suspects are held to the path rules of the group for all crawlers
	For   time.Duration // how long a client stays a suspect; 0: suspect.DefaultFor
}

// Suspects are clients that send a browser's User-Agent and behave like robots.
// A client is an address (IPv6: a /64) with a whole User-Agent at a host.
type Suspects struct {
	// Looked is the number of requests that could be looked at: over TLS, with
	// their fields in the log, without a Cookie or Authorization field.
	Looked int64 `json:"looked"`
	// Unknown is the number of requests of People of which the log does not have
	// the fields. Nothing is known of them.
	Unknown int64 `json:"unknown"`
	// Known tells that the log has what suspects are found by. Where it is not
	// set, the figures below are 0 and say nothing.
	Known bool `json:"known"`
	// Clients is the number of different clients that would have become
	// suspects, and Found how often one would have: a client may stop being one
	// and become one again.
	Clients int64 `json:"clients"`
	Found   int64 `json:"found"`
	// Requests is the number of requests of suspects, while they were suspects.
	Requests int64 `json:"requests"`
	// Refused is the number of those that the path rules of the group for all
	// crawlers would have refused, at the sites whose action is bind.
	Refused int64 `json:"refused"`
	// Bound tells that a site has the action bind.
	Bound bool `json:"bound"`
	// Signals are those that were raised, ordered by Found, most first, then by
	// Raised.
	Signals []SuspectSignal `json:"signals"`
}

// SuspectSignal is a sign of a robot.
type SuspectSignal struct {
	Name   string `json:"name"` // as in logs and metrics: robots_txt, pace, …
	Strong bool   `json:"strong"`
	Raised int64  `json:"raised"` // how often, of suspects and others
	Found  int64  `json:"found"`  // how many of Suspects.Found had it then
}

// requestFields are the values of the fields that suspectFields names.
type requestFields [len(suspectFields)][]string

// suspectFields are the fields of a request by which suspects are told from
// people, and where it came from.
var suspectFields = [...]string{
	"Cookie", "Sec-Fetch-Site", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-User", "Sec-Purpose", "Purpose", "X-Moz", "Sec-Ch-Ua",
	"X-Forwarded-For", "X-Forwarded-Proto",
}

// Indices of suspectFields.
const (
	fetchFields, fetchFieldsEnd = 1, 5
	forwardedFor                = 9
	forwardedProto              = 10
)

// fieldOf returns the index of a field, -1 for others.
func fieldOf(name []byte) int {
	if len(name) == 0 || strings.IndexByte("CSPX", name[0]) < 0 {
		return -1
	}
	for i, field := range suspectFields {
		if string(name) == field {
			return i
		}
	}
	return -1
}

// suspicion replays what the sites' suspect settings do.
type suspicion struct {
	watch   *suspect.Watch
	request suspect.Request
	clients distinct
	became  bool // the request that is looked at made its client a suspect
	fetch   bool // a request had Sec-Fetch-* fields
	bound   bool // a site has suspects bound

	looked, unknown, found, requests, refused int64
	raised, signals                           map[suspect.Signal]int64
}

// newSuspicion returns nil where no site looks for suspects.
func newSuspicion(sites []*site) *suspicion {
	if !slices.ContainsFunc(sites, func(s *site) bool { return s.Suspects != nil }) {
		return nil
	}
	s := &suspicion{clients: distinct{precision: 14}, raised: make(map[suspect.Signal]int64), signals: make(map[suspect.Signal]int64)}
	s.bound = slices.ContainsFunc(sites, func(s *site) bool { return s.Suspects != nil && s.Suspects.Bind })
	s.watch = suspect.NewWatch(suspect.Config{Observer: s})
	s.request.Header = make(http.Header, len(suspectFields))
	return s
}

// Raised implements suspect.Observer.
func (s *suspicion) Raised(signal suspect.Signal) { s.raised[signal]++ }

// Suspected implements suspect.Observer.
func (s *suspicion) Suspected(found *suspect.Suspect) {
	s.found++
	s.became = true
	for _, c := range found.Signals {
		s.signals[c.Signal]++
	}
}

// look counts a person's request, and what would have become of it.
func (s *suspicion) look(e *entry, h *hostTally, src *source, policy *enforce.Policy) {
	if !e.headers {
		s.unknown++
		return
	}
	if !s.fill(e, h) {
		return
	}
	rules, r := h.site.Suspects, &s.request
	r.Trap = suspect.NoHit
	if src != nil {
		r.Trap = hitOf(rules.Traps, e.target, policy)
	}
	s.looked++
	s.became = false
	standing := s.watch.See(r, cmp.Or(rules.For, suspect.DefaultFor))
	if s.became {
		network := suspect.Network(r.Client)
		var d xxhash.Digest
		d.Reset()
		_, _ = d.Write(network[:])
		_, _ = d.WriteString(r.Site)
		_, _ = d.WriteString("\n")
		_, _ = d.WriteString(r.UserAgent)
		s.clients.add(d.Sum64())
	}
	if !standing.Suspect {
		return
	}
	s.requests++
	if rules.Bind && standing.Page && src != nil {
		var d enforce.Decision
		policy.JudgeSuspect(e.target, &d)
		if d.Action == enforce.Deny {
			s.refused++
		}
	}
}

// fill makes the request ready, and reports whether its client can be watched:
// as the handler does, and not by an address that is masked, which stands for
// many clients.
func (s *suspicion) fill(e *entry, h *hostTally) bool {
	for i := range fetchFieldsEnd - fetchFields {
		s.fetch = s.fetch || len(e.fields[fetchFields+i]) > 0
	}
	if !e.timed || e.resolution > int64(time.Second) || e.authorized || len(e.agents) != 1 || h.isRest || len(e.fields[0]) > 0 || !e.secure() || e.ambiguous() {
		return false
	}
	client, err := netip.ParseAddr(e.client)
	if err != nil || strings.HasSuffix(e.client, ".0") || strings.HasSuffix(e.client, "::") {
		return false
	}
	r := &s.request
	r.Site, r.Client, r.Method, r.Target, r.UserAgent = h.origin.Host, client, e.method, e.target, e.agents[0]
	r.Secure, r.RobotsTxt, r.Time, r.Connection = true, enforce.IsRobotsTxt(e.target), e.time(), ""
	if !e.proxied() {
		r.Connection = e.port
	}
	for i, name := range suspectFields {
		if len(e.fields[i]) > 0 {
			r.Header[name] = e.fields[i]
		} else {
			delete(r.Header, name)
		}
	}
	return true
}

// proxied reports whether a trusted proxy told the client's address.
func (e *entry) proxied() bool { return e.remote != "" && e.client != e.remote }

// secure reports whether the client sent the request over TLS. Of a trusted
// proxy, what it says counts.
func (e *entry) secure() bool {
	if proto := e.fields[forwardedProto]; e.proxied() && len(proto) > 0 {
		return len(proto) == 1 && strings.EqualFold(proto[0], "https")
	}
	return e.tls
}

// ambiguous reports whether a proxy told several addresses.
func (e *entry) ambiguous() bool {
	values := e.fields[forwardedFor]
	return e.proxied() && len(values) > 0 && (len(values) > 1 || strings.Contains(values[0], ","))
}

// hitOf tells whether a target is one below the path of a trap that is in force.
// Who minted it can't be told without the key of the servers.
func hitOf(traps []suspect.Trap, target string, policy *enforce.Policy) suspect.Hit {
	for _, trap := range traps {
		if strings.HasPrefix(target, string(trap)) {
			if _, ok := policy.DisallowsEveryGroup(target); ok {
				return suspect.StaticHit
			}
		}
	}
	return suspect.NoHit
}

// reportSuspects adds what was found to a report. A log that has Sec-Fetch-*
// fields of nobody is one from which they were removed: by it, people are like
// robots.
func (a *auditor) reportSuspects(r *Report) {
	s := a.suspicion
	if s == nil {
		return
	}
	out := &Suspects{Looked: s.looked, Unknown: s.unknown, Known: s.looked > 0 && s.fetch, Bound: s.bound, Signals: []SuspectSignal{}}
	r.Suspects = out
	if !out.Known {
		return
	}
	n, estimate := s.clients.count()
	if out.Clients = n; estimate {
		r.Estimates = append(r.Estimates, "suspects.clients")
	}
	out.Found, out.Requests, out.Refused = s.found, s.requests, s.refused
	for signal, raised := range s.raised {
		out.Signals = append(out.Signals, SuspectSignal{Name: signal.String(), Strong: signal.Strong(), Raised: raised, Found: s.signals[signal]})
	}
	slices.SortFunc(out.Signals, func(x, y SuspectSignal) int {
		return cmp.Or(cmp.Compare(y.Found, x.Found), cmp.Compare(y.Raised, x.Raised), strings.Compare(x.Name, y.Name))
	})
	r.WouldHave.Browsers += out.Refused
}

// suspectsRefused is how many requests of suspects would have been refused.
func (r *Report) suspectsRefused() int64 {
	if r.Suspects == nil {
		return 0
	}
	return r.Suspects.Refused
}

// warnOfSuspects tells why suspects could not be told from people.
func (a *auditor) warnOfSuspects(warn func(string, string, ...any)) {
	s := a.suspicion
	if s == nil || a.persons == 0 {
		return
	}
	if s.unknown > 0 {
		warn("no_fields", "Suspects can't be told from %d requests with browsers' User-Agents: this log does not have the fields of requests. Caddy's JSON has them.", s.unknown)
	}
	switch {
	case s.looked == 0 && s.unknown == 0:
		warn("no_suspects", "Suspects can't be told from this log: it has no request of a browser over TLS without a Cookie or Authorization field, from an address that is not masked.")
	case s.looked > 0 && !s.fetch:
		warn("no_fetch_fields", "Suspects can't be told from this log: no request has Sec-Fetch-* fields. They seem to be removed from it.")
	}
}
