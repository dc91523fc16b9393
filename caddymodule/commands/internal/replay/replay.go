// Package replay drives the steps of a handler with the requests of an access log, by the clock of
// the log: what a step does to a live request, it does to a line.
package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/media"
)

// With returns the site of an audit with steps, which are not set up: those that can be driven
// with a log decide about its requests. lacks says what can't be told from a log.
func With(site audit.Site, steps []step.Step) (_ audit.Site, lacks []string, err error) {
	var driven []step.Step
	for _, s := range steps {
		_, decides := s.(step.Decider)
		if editor, ok := s.(step.Editor); ok {
			site.Rules.Edit = editor.Edit
			site.Rules.ID = "" // other settings
		}
		if _, ok := s.(step.Replayer); ok {
			driven = append(driven, s)
		} else if decides && !s.Info().Default {
			lacks = append(lacks, fmt.Sprintf("%s is left out: what it would do can't be told from a log.", s.CaddyModule().ID.Name()))
		}
		if _, ok := s.(step.Budgeter); ok {
			site.Rules.StepBudgets = true
		}
	}
	slices.SortStableFunc(driven, func(a, b step.Step) int { return cmp.Compare(a.Info().Stage, b.Info().Stage) })
	site.Chain = nil
	if len(driven) == 0 {
		return site, lacks, nil
	}
	site.Chain = func() (audit.Chain, error) { return newChain(driven) }
	c, err := newChain(driven)
	if err != nil {
		return site, nil, err
	}
	for _, what := range c.unknown {
		lacks = append(lacks, "It can't be told from a log "+what+".")
	}
	return site, lacks, nil
}

// chain implements audit.Chain.
type chain struct {
	decide     step.Decide
	responders []step.Responder
	enders     []step.Ender
	resolution time.Duration
	unknown    []string // what can't be told from a log

	exchange step.Exchange
	request  http.Request
	answer   answer
	budgets  *enforce.Replay // for the request that is being decided
}

// newChain returns the chain of copies of steps. They have what they need of a site, but keep
// nothing and use no network.
func newChain(steps []step.Step) (*chain, error) {
	c := &chain{request: http.Request{URL: new(url.URL), Header: make(http.Header)}, answer: answer{header: make(http.Header)}}
	site := step.Site{
		IsLog: true, Log: zap.NewNop(), Budgets: throttle.NewMemory(1), Key: func() string { return "" }, Hosts: func() []string { return nil },
		Page:  func(string, func([]byte) error) (bool, error) { return false, nil },
		Store: func() step.Store { return nil }, Publishes: never, Monitors: never, IsBusy: never,
	}
	var copies []step.Step
	for _, s := range steps {
		s, err := clone(s)
		if err == nil {
			err = s.Join(site)
		}
		if err != nil {
			return nil, err
		}
		copies = append(copies, s)
		if responder, ok := s.(step.Responder); ok {
			c.responders = append(c.responders, responder)
		}
		if ender, ok := s.(step.Ender); ok {
			c.enders = append(c.enders, ender)
		}
		needs := s.(step.Replayer).Needs()
		c.resolution = max(c.resolution, needs.Resolution)
		if needs.Unknown != "" {
			c.unknown = append(c.unknown, needs.Unknown)
		}
	}
	c.decide = step.Chain(copies,
		step.Own{Before: step.Limit, Do: func(x *step.Exchange) { x.Uses = x.Uses[:0] }}, // a step before may decide again
		step.Own{Before: step.Shed, Do: func(x *step.Exchange) { c.budgets.Pace(&x.Request, &x.Decision, x.Uses) }})
	return c, nil
}

func never() bool { return false }

// clone returns a step with the settings of another one, and without its state.
func clone(s step.Step) (step.Step, error) {
	settings, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	own := step.New(s.CaddyModule().ID.Name())
	return own, json.Unmarshal(settings, own)
}

// Resolution implements audit.Chain.
func (c *chain) Resolution() time.Duration { return c.resolution }

// Decide implements audit.Chain.
func (c *chain) Decide(v *audit.Judged, d *judge.Decision, budgets *enforce.Replay) {
	x := &c.exchange
	x.Clear()
	c.budgets = budgets
	x.Request, x.Decision, x.HTTP = v.Request, *d, c.fill(v)
	c.decide(x)
	*d = x.Decision
	if d.Action == judge.Pass {
		c.respond(v.Entry.Status, v.Kind())
		x.Returned = true
	}
	for _, e := range c.enders {
		e.End(x)
	}
}

// fill makes a request of what the log has of one.
func (c *chain) fill(v *audit.Judged) *http.Request {
	r := &c.request
	r.Method = v.Method
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut(v.Target, "?")
	clear(r.Header)
	r.Header["User-Agent"] = v.UserAgents
	set := func(name, value string) {
		if value != "" {
			r.Header[name] = []string{value}
		}
	}
	set("Referer", v.Entry.Referer)
	set("Sec-Fetch-Dest", v.Entry.Dest)
	note := func(name string, has bool) {
		if has {
			r.Header[name] = unknown
		}
	}
	note("Cookie", v.Entry.Cookie)
	note("Authorization", v.Authorized)
	note("Sec-Purpose", v.Entry.Prefetch)
	return r
}

// unknown is the value of a field that the log says nothing more of.
var unknown = []string{"-"}

// types are the media types that stand for kinds of answers.
var types = map[media.Kind][]string{media.Page: {"text/html"}, media.Embedded: {"text/css"}, media.Other: {"application/octet-stream"}}

// respond shows the steps the answer that the log has.
func (c *chain) respond(status int, kind media.Kind) {
	var w http.ResponseWriter = &c.answer
	for _, r := range c.responders {
		w = r.Respond(&c.exchange, w)
	}
	clear(c.answer.header)
	if kind != media.Unknown {
		c.answer.header["Content-Type"] = types[kind]
	}
	w.WriteHeader(max(status, http.StatusOK))
}

// answer is an answer that nobody gets.
type answer struct{ header http.Header }

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(p []byte) (int, error) { return len(p), nil }
func (a *answer) WriteHeader(int)             {}
