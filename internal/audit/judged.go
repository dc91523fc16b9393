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
	"github.com/caddy-robots/caddy-robots/internal/verdict"
	"github.com/caddy-robots/caddy-robots/internal/words"
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
	Entry   *logformat.Entry // what the log has of it
	Rulings []Ruling         // by the versions of the rules: those in force first
	Host    string

	host    *Host
	crawler *Crawler          // nil for a person
	logged  *verdict.Decision // with Options.Decided, that of Caddy's log; nil if it has none
	secret  bool              // its path is one that must not be shown
	log     string            // name
	number  int64             // line in log
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
	sum := cost.Sum{Requests: 1, Octets: e.Bytes, Seconds: float64(e.Duration) / 1e9}
	addIf(&sum.Untimed, !e.Lasted, 1)
	*v = Judged{
		Request: request(e, host), Sum: sum,
		Entry: e, Rulings: v.Rulings[:0], Host: host.Name, host: host, log: l.Name, number: l.Number,
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
		line.decide(v.Entry, &v.Request, &v.Rulings[i])
		v.secret = v.secret || v.Rulings[i].Layer.Info().Secret
	}
}

// maxDecision is the largest size of the JSON of a decision, in octets.
const maxDecision = 4096

// setLogged stores the decision that Caddy's log has, and reports whether it has one.
func (v *Judged) setLogged() bool {
	d := new(verdict.Decision)
	if b := v.Entry.Robots; len(b) == 0 || len(b) > maxDecision || json.Unmarshal(b, d) != nil || d.Action == "" {
		return false
	}
	if d.Layer == judge.FileLayer.String() {
		d.File = "robots.txt"
	}
	var layer judge.Layer
	v.secret = v.secret || layer.UnmarshalText([]byte(d.Layer)) == nil && layer.Info().Secret
	v.logged = d
	return true
}

// clone returns a copy that does not share the memory of the line.
func (v *Judged) clone() *Judged {
	c, e := *v, *v.Entry
	c.Entry, c.Rulings = &e, slices.Clone(v.Rulings)
	e.Media, e.Response, e.Robots = e.ContentType(), nil, nil
	e.Target = strings.Clone(e.Target[:min(len(e.Target), 4*mask.MaxShown)])
	e.UserAgents = words.Map(e.UserAgents, mask.Shortened)
	for _, s := range []*string{&e.Method, &e.Client, &e.Referer, &e.Dest, &e.Media, &e.Remote, &e.Port} {
		*s = mask.Shortened(*s)
	}
	c.Request = request(&e, v.host)
	return &c
}

// isBrowser reports whether, by the registry alone, the User-Agent is that of a
// browser or app.
func (v *Judged) isBrowser() bool {
	if c := v.now().Agent.Class; c != crawler.Named && c != crawler.Person {
		return false
	}
	var id crawler.Identity
	cmp.Or(v.host.site.Rules.Registry, crawler.Builtin()).Matcher(nil).Identify(v.Entry.UserAgent(), &id)
	return id.Len() == 0
}

// FromElsewhere reports whether the Referer is a page of another site, such as a search engine.
func (v *Judged) FromElsewhere() bool {
	return len(v.Entry.Referer) > 1 && !strings.Contains(v.Entry.Referer, v.host.Name)
}

// timesSuffice reports whether the time of the request is exact enough to judge a
// delay.
func (v *Judged) timesSuffice(delay time.Duration) bool {
	coarse := time.Duration(v.Entry.Resolution)
	return v.Entry.Begun && coarse <= 10*time.Millisecond || delay >= max(minDelay, 2*coarse)
}

// stamp returns the time of the request, "" if the log has none.
func (v *Judged) stamp() string {
	if !v.Entry.Timed {
		return ""
	}
	return v.Time.Format("2006-01-02T15:04:05.000Z")
}

// shown returns the request for a report, with a decision, which may be nil.
func (v *Judged) shown(m mask.Masker, d *verdict.Decision) Request {
	r := Request{
		Time: v.stamp(), Host: v.Host, Client: m.Client(mask.Shortened(v.Client)), Method: mask.Shortened(v.Method),
		Target: m.Target(v.Target), Agent: mask.Shortened(v.Entry.UserAgent()), Status: v.Entry.Status, Log: v.log, Line: v.number, Robots: d,
	}
	if m.Full && (v.Entry.Remote == "" || v.Entry.Remote == v.Entry.Client) { // else it is the port of a proxy
		r.Port = mask.Shortened(v.Entry.Port)
	}
	if v.secret && !m.Full {
		r.Target = mask.Hidden
	}
	return r
}
