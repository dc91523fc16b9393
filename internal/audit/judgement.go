package audit

import (
	"cmp"
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
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// Example is a request of the log.
type Example struct {
	Input  string     `json:"input"` // name of the file
	LineNo int64      `json:"line"`  // line in that file, from 1
	Time   *time.Time `json:"time"`  // nil if the line has none
	Host   string     `json:"host"`
	Client string     `json:"client"` // masked unless Options.Full is set
	Method string     `json:"method"`
	Target string     `json:"target"` // path and query; the values of the query are masked unless Options.Full is set
	Agent  string     `json:"agent"`  // User-Agent
	Status int        `json:"status"`
	// Verdict says what would have happened to the request.
	Verdict verdict.Verdict `json:"verdict"`
}

// Judged is a request of a log with the decisions on it, and what is needed to count them.
// Its strings are valid only during the call that gets it.
type Judged struct {
	judge.Request
	cost.Sum
	Rulings []Ruling     // by the versions of the rules: those in force first
	Log     *logfile.Log // its current line is that of the request; nil of a clone
	Host    string
	Referer string
	Status  int

	host       *hostTally
	crawler    *crawlerTally // nil for a person
	at         int64         // time in nanoseconds since 1970
	timed      bool          // at is known
	exact      bool          // at is exact enough for every delay
	resolution int64         // of at, in nanoseconds
	input      string        // name of the log
	number     int64         // line in input
	agent      string        // User-Agent
}

// Ruling is the decision on a request by one version of the rules.
type Ruling struct {
	judge.Decision
	Rules  *judge.Rules // that were in force
	source *source      // nil if no robots.txt is known
	line   *timeline
}

// Known reports whether a robots.txt was known.
func (r *Ruling) Known() bool { return r.source != nil }

// now returns the decision by the rules in force.
func (v *Judged) now() *Ruling { return &v.Rulings[0] }

// setEntry stores the request of a log's current line.
func (v *Judged) setEntry(l *logfile.Log, host *hostTally) {
	e := &l.Entry
	*v = Judged{
		Request: request(e, host), Sum: costOf(e), Rulings: v.Rulings[:0], Log: l, Host: host.Name, Referer: e.Referer, Status: e.Status,
		host: host, at: e.At, timed: e.Timed, exact: e.Begun && e.Resolution <= int64(10*time.Millisecond), resolution: e.Resolution,
		input: l.Name, number: l.Number, agent: e.UserAgent(),
	}
}

// decide decides about the request by each of several versions of the rules, apart from
// limits of the pace.
func (v *Judged) decide(lines []*timeline) {
	v.Rulings = slices.Grow(v.Rulings[:0], len(lines))[:len(lines)]
	for i, line := range lines {
		line.decide(&v.Log.Entry, &v.Request, &v.Rulings[i])
	}
}

// request returns an entry in the form that the engine needs.
func request(e *logformat.Entry, h *hostTally) judge.Request {
	return judge.Request{
		Method: e.Method, Target: e.Target, UserAgents: e.UserAgents, Origin: h.origin, Client: e.Client, Time: e.Time(),
		Authorized: e.Authorized,
	}
}

// clone returns a copy that does not share the memory of the line.
func (v *Judged) clone() *Judged {
	c := *v
	c.Log, c.UserAgents, c.Rulings = nil, nil, slices.Clone(v.Rulings)
	c.Target = strings.Clone(v.Target[:min(len(v.Target), 4*mask.MaxShown)])
	for _, s := range []*string{&c.Method, &c.Client, &c.Referer, &c.agent} {
		*s = mask.Shortened(*s)
	}
	return &c
}

// isComparable reports whether it is known what both Site.Robots and Site.Was would have
// done with the request.
func (v *Judged) isComparable() bool {
	return len(v.Rulings) == 2 && v.Rulings[0].Known() && (v.Rulings[1].Known() || len(v.host.site.Was) == 0)
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
	return v.exact || delay >= max(minDelay, time.Duration(2*v.resolution))
}

// example returns the Example of a request with a verdict.
func (v *Judged) example(m mask.Masker, verdict verdict.Verdict) Example {
	e := Example{
		Input: v.input, LineNo: v.number, Host: v.Host, Client: m.Client(v.Client), Method: strings.Clone(v.Method),
		Target: m.Target(v.Target), Agent: mask.Shortened(v.agent), Status: v.Status, Verdict: verdict,
	}
	if verdict.Layer == managed.HiddenLayer.String() && !m.Full { // hidden paths must not be shown
		e.Target = mask.Hidden
	}
	if v.timed {
		e.Time = utc(v.at)
	}
	return e
}
