package challenge

import (
	"hash/maphash"
	"net/http"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Verdict is what becomes of a request.
type Verdict uint8

// The verdicts of decide. Those after TooMany are for requests with a token.
const (
	Go       Verdict = iota // the request goes on
	Stranger                // the client does not show that it is a browser: the page
	TooMany                 // 429
	Sheet                   // the style sheet
	Clean                   // 303 to the URL without the parameter
	Pressed                 // the same, with the cookie
)

// Layer has the line challenge.
var Layer = judge.RegisterLayer(judge.LayerInfo{Name: "challenge"})

// Reasons of decisions on strangers.
var (
	Asked = judge.RegisterReason(judge.ReasonInfo{
		Name: "challenge", Action: judge.Ask,
		Meaning: "strangers storm the path, and the client has not shown that it is a browser",
		Answer:  &judge.AnswerInfo{Verdict: "challenge", Line: "challenge", Page: true},
	})
	HeldUp = judge.RegisterReason(judge.ReasonInfo{
		Name: "challenge_limit", Action: judge.Throttle,
		Meaning: "strangers storm the path, and more come with the crawler's name than `over` allows",
		Status:  429, Text: "Too many requests for these pages come with the name of your crawler at present.",
	})
)

// Wrap implements step.Decider: it asks a stranger to show that it is a browser.
func (c *Check) Wrap(next step.Decide) step.Decide {
	return func(x *step.Exchange) {
		c.decide(x)
		next(x)
	}
}

// decide says what becomes of a request that a decision lets through, and of one with a token.
func (c *Check) decide(x *step.Exchange) {
	a := c.slot.Of(x)
	a.verdict = c.pace(x)
	switch a.verdict {
	case Stranger:
		x.Stranger = true
		if c.mark {
			a.verdict = Go
			return
		}
		x.Decision.Refuse(Asked, c.place, a.wait)
	case TooMany:
		x.Decision.Refuse(HeldUp, c.place, a.wait)
	}
}

func (c *Check) pace(x *step.Exchange) Verdict {
	kind, a := c.kindOf(x), c.slot.Of(x)
	c.watchSigns(x)
	if kind == free && !a.given && a.memory == nil {
		return Go
	}
	c.arrival(x)
	s := c.storm(&x.Request, a.now)
	s.cameBack(a)
	a.matches = c.closes(x.Decision.Rules, &x.Request)
	if a.given {
		if verdict, ends := a.answerToken(s, kind == stranger && a.matches); ends {
			return verdict
		}
	}
	if kind == free {
		return Go
	}
	a.storm, a.proves = s, proves(&x.Request, x.HTTP, x.Decision.Agent.Class)
	if kind == stranger {
		a.cell = s.cohorts.cellOf(a.bearer.userAgent)
	}
	switch {
	case !a.matches:
		return Go
	case kind == named:
		return a.paceName()
	}
	return a.paceStranger()
}

// cameBack counts a request of a client that has passed.
func (s *Storm) cameBack(a *Arrival) {
	if a.pass.kind == passToken && s.waiting.Load() != 0 {
		s.waiting.Store(0)
	}
	if a.isNew {
		a.ofClient().used.Store(true)
		s.passed.Add(1)
		count("passed")
	}
}

// paceStranger says what becomes of a request, on the paths of the check, of a client that no
// rule binds and that names no crawler.
func (a *Arrival) paceStranger() Verdict {
	c, s, q, address := a.check, a.storm, &a.Request, a.ofAddress()
	client, own := c.memory.find(a.client(), a.now), a.memory
	isSigned, isOn := client.sign.isRecent(a.now) && c.isUsed(q.Origin.Host), s.isOn(c, q.Origin.Host, a.now)
	if own == nil || isSigned && !own.known.isRecent(a.now) {
		own = nil
		a.cell.counts(a.bearer.userAgent)
		a.counted = s.count(address, a.now, a.cell == s.cohorts.storms.Load())
	}
	if !isOn && !isSigned || isPreflight(a.HTTP) && !s.knowsNoCORS.Load() {
		return Go
	}
	isKnown := !isSigned && client.known.isRecent(s.since.Load()) && !(q.Reads() && opensPage(a.HTTP))
	if own == nil && (isKnown || isPreflight(a.HTTP) && client.used.Load()) {
		own = client
	}
	if own != nil && a.takePage(own, address) {
		return Go
	}
	s.keep(&s.not, a)
	a.counted = counted{} // it counts as the page that it replaces
	return a.ask(isSigned || a.memory != nil)
}

// ask makes the page the answer. alone says that it has the button alone.
func (a *Arrival) ask(alone bool) Verdict {
	a.giveBack()
	a.alone, a.page = alone, newToken(a.Request.Time)
	a.storm.asked.Add(1)
	count("shown")
	return Stranger
}

// paceName says what becomes of a request of a client that names a crawler, which is not
// verified and which no rule binds. It never gets the page, because a search engine would take
// it for the site's. Names that are not in the registry share one bound, because clients can
// invent them, and all together have that of manyNames: clients can go through the registry.
func (a *Arrival) paceName() Verdict {
	c, row := a.check, ""
	if a.Decision.Agent.Crawler != nil {
		row = a.Decision.Agent.Crawler.Name
	}
	name, all := c.memory.memo(a.storm.key^maphash.String(c.memory.seed, row), a.now), c.memory.memo(a.storm.key, a.now)
	interval := c.window / time.Duration(c.over)
	if a.take(&name.own, pace{interval, c.over}) && a.take(&all.all, pace{interval / manyNames, manyNames * c.over}) {
		return Go
	}
	a.counted = a.storm.count(a.ofAddress(), a.now, true)
	if !a.storm.isOn(c, a.Request.Origin.Host, a.now) {
		return Go
	}
	a.counted = counted{}
	count("refused")
	return TooMany
}

// answerToken says what becomes of a request whose URL has the parameter. isHere says that it is
// that of a stranger on the paths of the check. ends is false if the request goes on without it.
func (a *Arrival) answerToken(s *Storm, isHere bool) (verdict Verdict, ends bool) {
	c, q, r := a.check, &a.Request, a.HTTP
	switch {
	case q.Method == http.MethodPost && a.token.isFresh(buttonToken, q.Time, buttonLife) &&
		isFrom(r, "same-origin"):
		count("button")
		a.ofClient().sign.Store(0)
		c.memory.pass(a.token, a.now).known.Store(a.now)
		a.gives = a.token.as(passToken)
		a.gives.at = a.now // the button may be pressed up to an hour after the page was made
		return Pressed, true
	case q.Method == http.MethodPost: // who presses the button of an old page gets a fresh page
		return Clean, a.formed && r.ContentLength == 0 && opensPage(r)
	case !q.Reads(), a.once:
		return Go, false
	case a.token.kind == styleToken || wants(r, "style", "text/css"):
		if a.token.isFresh(styleToken, q.Time, tokenLife) && isForStyle(r) {
			if !a.ofAddress().used.Swap(true) {
				s.waiting.Add(1)
			}
			a.gives = a.token.as(passToken)
			count("style")
		}
		return Sheet, true
	case a.token.isFresh(openToken, q.Time, tokenLife) && a.memory == nil && isHere && s.isOn(c, q.Origin.Host, a.now):
		a.storm = s
		return a.ask(true), true
	}
	return Clean, true
}
