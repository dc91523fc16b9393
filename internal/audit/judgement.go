package audit

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// Verdict says what would have happened to a request, and why.
type Verdict struct {
	verdict.Verdict
	Source int `json:"source"` // index in Report.Sources (in Against.Sources for Difference.Was); -1 if none
}

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
	Verdict Verdict `json:"verdict"`
}

// judgement is a request with the decisions on it, and what is needed to count them.
type judgement struct {
	request judge.Request
	now     judge.Decision  // by Site.Robots
	was     *judge.Decision // by Options.Was; nil without

	host      *hostTally
	source    *source       // nil if no robots.txt is known
	sourceWas *source       // by Options.Was; nil if no robots.txt is known
	crawler   *crawlerTally // nil for a person
	replayed  *Replayed     // nil except in Replay

	at         int64  // time in nanoseconds since 1970
	timed      bool   // at is known
	exact      bool   // at is exact enough for every delay
	resolution int64  // of at, in nanoseconds
	input      string // name of the log
	number     int64  // line in input
	status     int
	agent      string // User-Agent
}

// setEntry stores the request of a log's current line. It leaves now as it is.
func (v *judgement) setEntry(l *logfile.Log, host *hostTally) {
	e := &l.Entry
	v.request, v.host = request(e, host), host
	v.was, v.source, v.sourceWas, v.crawler, v.replayed = nil, nil, nil, nil, nil
	v.at, v.timed, v.resolution = e.At, e.Timed, e.Resolution
	v.exact = e.Begun && e.Resolution <= int64(10*time.Millisecond)
	v.input, v.number, v.status, v.agent = l.Name, l.Number, e.Status, e.UserAgent()
}

// request returns an entry in the form that the engine needs.
func request(e *logformat.Entry, h *hostTally) judge.Request {
	return judge.Request{
		Method: e.Method, Target: e.Target, UserAgents: e.UserAgents, Origin: h.origin, Client: e.Client, Time: e.Time(),
		Authorized: e.Authorized,
	}
}

// clone returns a copy that does not share the memory of the line.
func (v *judgement) clone() *judgement {
	c := *v
	c.request.Target = strings.Clone(v.request.Target[:min(len(v.request.Target), 4*mask.MaxShown)])
	c.request.Method = strings.Clone(v.request.Method)
	c.request.Client = strings.Clone(v.request.Client)
	c.agent = mask.Shortened(v.agent)
	c.request.UserAgents = nil
	if v.was != nil {
		was := *v.was
		c.was = &was
	}
	if v.replayed != nil {
		c.replayed = v.replayed.clone()
	}
	return &c
}

// isComparable reports whether it is known what both Options.Sites and Options.Was
// would have done with the request.
func (v *judgement) isComparable() bool {
	named := v.host.Name != "" && !v.host.Rest
	known := func(src *source, s *site) bool { return src != nil || s.none && (named || s.sole) }
	return v.was != nil && !(v.host.site.none && v.host.was.none) && known(v.source, v.host.site) && known(v.sourceWas, v.host.was)
}

// isBrowser reports whether, by the registry alone, the User-Agent is that of a
// browser or app.
func (v *judgement) isBrowser() bool {
	if c := v.now.Agent.Class; c != crawler.Named && c != crawler.Person {
		return false
	}
	var id crawler.Identity
	cmp.Or(v.host.site.Rules.Registry, crawler.Builtin()).Matcher(nil).Identify(v.agent, &id)
	return id.Len() == 0
}

// timesSuffice reports whether the time of the request is exact enough to judge a
// delay.
func (v *judgement) timesSuffice(delay time.Duration) bool {
	return v.exact || delay >= max(minDelay, time.Duration(2*v.resolution))
}

// timesSufficeFor reports whether the time of the request is exact enough to judge all
// limits of a list.
func (v *judgement) timesSufficeFor(limits []limit) bool {
	return !slices.ContainsFunc(limits, func(l limit) bool { return l.per > 0 && !v.timesSuffice(l.per) })
}

// example returns the Example of a request with a verdict.
func (v *judgement) example(m mask.Masker, verdict Verdict) Example {
	e := Example{
		Input: v.input, LineNo: v.number, Host: v.host.Name, Client: m.Client(v.request.Client), Method: strings.Clone(v.request.Method),
		Target: m.Target(v.request.Target), Agent: mask.Shortened(v.agent), Status: v.status, Verdict: verdict,
	}
	if verdict.Layer == managed.HiddenLayer.String() && !m.Full { // hidden paths must not be shown
		e.Target = mask.Hidden
	}
	if v.timed {
		e.Time = utc(v.at)
	}
	return e
}
