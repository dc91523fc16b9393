package audit

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/media"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// Request is a request of a log, as a report shows it.
type Request struct {
	Time   string            `json:"time"` // in UTC, with milliseconds; "" if the log has none
	Host   string            `json:"host"`
	Client string            `json:"client"`
	Port   string            `json:"remote_port"` // of the client; "" if the log does not have it, or the client is masked
	Method string            `json:"method"`
	Target string            `json:"target"` // path and query; the values of the query are masked
	Agent  string            `json:"user_agent"`
	Status int               `json:"status"`
	Log    string            `json:"log"`
	Line   int64             `json:"log_line"` // from 1
	Robots *verdict.Decision `json:"robots"`   // nil if the log has no decision, as for browsers and apps
}

// Judged is a request of a log with the decisions on it, and what is needed to count them.
// Its strings are valid only during the call that gets it.
type Judged struct {
	judge.Request
	cost.Sum
	Rulings []Ruling // by the versions of the rules: those in force first
	Host    string
	Referer string
	Status  int
	// The request has a Cookie field, or says that it is for later, and its Sec-Fetch-Dest is Dest.
	Cookie, Prefetch bool
	Dest             string

	entry   *logformat.Entry // nil of a clone
	kind    media.Kind       // of a clone: see Kind
	host    *Host
	crawler *Crawler          // nil for a person
	logged  *verdict.Decision // with Options.Decided, that of Caddy's log; nil if it has none
	timed   bool              // its time is known
	exact   bool              // its time is exact enough for every delay
	coarse  time.Duration     // the resolution of its time
	log     string            // name
	number  int64             // line in log
	agent   string            // User-Agent
	port    string
}

// Ruling is the decision on a request by one version of the rules.
type Ruling struct {
	judge.Decision
	source *Source // nil if no robots.txt is known
	line   *timeline
}

// now returns the decision by the rules in force.
func (v *Judged) now() *Ruling { return &v.Rulings[0] }

// setEntry stores the request of a log's current line.
func (v *Judged) setEntry(l *logfile.Log, host *Host) {
	e := &l.Entry
	*v = Judged{
		Request: request(e, host), Sum: cost.Sum{Requests: 1, Octets: e.Bytes, Seconds: float64(e.Duration) / 1e9}, Rulings: v.Rulings[:0],
		Host: host.Name, Referer: e.Referer, Status: e.Status, Cookie: e.Cookie, Prefetch: e.Prefetch, Dest: e.Dest,
		entry: e, host: host, timed: e.Timed,
		exact: e.Begun && e.Resolution <= int64(10*time.Millisecond), coarse: time.Duration(e.Resolution), log: l.Name, number: l.Number,
		agent: e.UserAgent(),
	}
	if e.Remote == "" || e.Remote == e.Client { // else it is the port of a proxy
		v.port = e.Port
	}
}

// request returns an entry in the form that the engine needs.
func request(e *logformat.Entry, h *Host) judge.Request {
	return judge.Request{
		Method: e.Method, Target: e.Target, UserAgents: e.UserAgents, Origin: h.origin, Client: e.Client, Time: e.Time(),
		Authorized: e.Authorized,
	}
}

// decide decides about the request by each of several versions of the rules, apart from
// limits of the pace.
func (v *Judged) decide(lines []*timeline) {
	v.Rulings = slices.Grow(v.Rulings[:0], len(lines))[:len(lines)]
	for i, line := range lines {
		line.decide(v.entry, &v.Request, &v.Rulings[i])
	}
}

// maxDecision is the largest size of the JSON of a decision, in octets.
const maxDecision = 4096

// setLogged stores the decision that Caddy's log has, and reports whether it has one.
func (v *Judged) setLogged() bool {
	d := new(verdict.Decision)
	if b := v.entry.Robots; len(b) == 0 || len(b) > maxDecision || json.Unmarshal(b, d) != nil || d.Action == "" {
		return false
	}
	if d.Layer == judge.FileLayer.String() {
		d.File = "robots.txt"
	}
	v.logged = d
	return true
}

// clone returns a copy that does not share the memory of the line.
func (v *Judged) clone() *Judged {
	c := *v
	c.entry, c.kind, c.UserAgents, c.Rulings = nil, v.Kind(), slices.Clone(v.UserAgents), slices.Clone(v.Rulings)
	for i := range c.UserAgents {
		c.UserAgents[i] = mask.Shortened(c.UserAgents[i])
	}
	c.Target = strings.Clone(v.Target[:min(len(v.Target), 4*mask.MaxShown)])
	for _, s := range []*string{&c.Method, &c.Client, &c.Referer, &c.Dest, &c.agent, &c.port} {
		*s = mask.Shortened(*s)
	}
	return &c
}

// Kind returns what the answer is, as far as the log says.
func (v *Judged) Kind() media.Kind {
	if v.entry == nil {
		return v.kind
	}
	return kindOf(v.entry)
}

// isBrowser reports whether, by the registry alone, the User-Agent is that of a
// browser or app.
func (v *Judged) isBrowser() bool {
	if c := v.now().Agent.Class; c != crawler.Named && c != crawler.Person {
		return false
	}
	var id crawler.Identity
	cmp.Or(v.host.site.Rules.Registry, crawler.Builtin()).Matcher(nil).Identify(v.agent, &id)
	return id.Len() == 0
}

// timesSuffice reports whether the time of the request is exact enough to judge a
// delay.
func (v *Judged) timesSuffice(delay time.Duration) bool {
	return v.exact || delay >= max(minDelay, 2*v.coarse)
}

// stamp returns the time of the request, "" if the log has none.
func (v *Judged) stamp() string {
	if !v.timed {
		return ""
	}
	return v.Time.Format("2006-01-02T15:04:05.000Z")
}

// shown returns the request for a report, with a decision, which may be nil.
func (v *Judged) shown(client, target mask.Masker, d *verdict.Decision) Request {
	r := Request{
		Time: v.stamp(), Host: v.Host, Client: client.Client(mask.Shortened(v.Client)), Method: mask.Shortened(v.Method),
		Target: target.Target(v.Target), Agent: mask.Shortened(v.agent), Status: v.Status, Log: v.log, Line: v.number, Robots: d,
	}
	if client.Full {
		r.Port = mask.Shortened(v.port)
	}
	if d != nil && d.Layer == managed.HiddenLayer.String() && !target.Full { // hidden paths must not be shown
		r.Target = mask.Hidden
	}
	return r
}
