package challenge

import (
	"hash/maphash"
	"net/http"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Verdict is what becomes of a request.
type Verdict uint8

// The verdicts of Pace. Those after TooMany are for requests with a token.
const (
	Go       Verdict = iota // the request goes on
	Stranger                // the client does not show that it is a browser: the page
	TooMany                 // 429
	Sheet                   // the style sheet
	Clean                   // 303 to the URL without the parameter
	Pressed                 // the same, with the cookie
)

// The bounds of pages: of a pass or a known client, of all of an address, and of each of these
// when the address has no more.
const (
	pageInterval = time.Second
	pageBurst    = 120
	allInterval  = time.Minute / 600
	allBurst     = 600
	fewInterval  = time.Minute / 6
	fewBurst     = 6
)

// Pace says what becomes of a request that a decision lets through, and of one with a token.
func (c *Check) Pace(a *Arrival, q *judge.Request, r *http.Request, d *judge.Decision) Verdict {
	a.now = uint32(q.Time.Unix())
	kind := c.kindOf(q, d)
	c.watchSigns(a, q, r, d)
	if kind == free && !a.given && a.memory == nil {
		return Go
	}
	c.identify(a, q)
	s := c.storm(q, a.now)
	if a.memory != nil {
		s.cameBack(a)
	}
	if a.given {
		if verdict, ends := c.answerToken(a, s, q, r, d, kind); ends {
			return verdict
		}
	}
	if kind == free {
		return Go
	}
	a.begin(c, s, q, r, d)
	switch {
	case kind == named && a.matches:
		return c.paceName(a, q, d)
	case kind == named:
		return Go
	}
	a.cell = s.cohorts.cellOf(c.memory.seed, a.bearer.userAgent)
	a.client, _ = c.memory.memo(c.clientKey(a, r), a.now)
	if !a.matches {
		return Go
	}
	return c.paceStranger(a, q, r)
}

// cameBack counts a request with a pass.
func (s *Storm) cameBack(a *Arrival) {
	if s.waiting.Load() != 0 {
		s.waiting.Store(0)
	}
	if a.isNew && a.pass.kind == passByStyle {
		s.passed.Add(1)
		count("passed")
	}
}

// takePage takes a page from what a pass or a known client has, and its address, and reports
// whether there is one: nobody at the same address can take all of a neighbour's.
func (a *Arrival) takePage(own, address *memo, now time.Time) bool {
	a.wait = a.take(&own.pages, now, pageInterval, pageBurst)
	if a.wait > 0 {
		return false
	}
	if a.take(&address.all, now, allInterval, allBurst) == 0 {
		return true
	}
	a.wait = a.take(&own.few, now, fewInterval, fewBurst)
	return a.wait == 0
}

// paceStranger says what becomes of a request, on the paths of the check, of a client that no
// rule binds and that names no crawler.
func (c *Check) paceStranger(a *Arrival, q *judge.Request, r *http.Request) Verdict {
	s, host := a.storm, q.Origin.Host
	address, isNew := c.memory.memo(a.group, a.now)
	isSigned := a.client.isSigned(a.now) && !a.IsFreed() && len(q.UserAgents) == 1 && c.isUsed(host)
	isOn := s.isOn(c, host, a.now)
	if a.memory != nil && !isSigned {
		if !isOn || a.takePage(a.memory, address, q.Time) {
			return Go
		}
		return c.ask(a, q, true)
	}
	a.cell.counts(a.bearer.userAgent)
	a.counted = s.count(address, a.now, isNew, false, a.cell)
	if !isOn && !isSigned || isPreflight(r) {
		return Go
	}
	isKnown := !isSigned && !c.Always && a.client.isKnown(s.since.Load()) && !(q.Reads() && opensPage(r))
	if isKnown && a.takePage(a.client, address, q.Time) {
		return Go
	}
	a.counted = counted{} // it counts as the page that it replaces
	return c.ask(a, q, isSigned)
}

// ask makes the page the answer. alone says that it has the button alone.
func (c *Check) ask(a *Arrival, q *judge.Request, alone bool) Verdict {
	a.giveBack()
	a.alone, a.page = alone, newToken(q.Time)
	a.storm.asked.Add(1)
	count("shown")
	return Stranger
}

// paceName says what becomes of a request of a client that names a crawler, which is not
// verified and which no rule binds. It never gets the page, because a search engine would take
// it for the site's. Names that are not in the registry share one bound, because clients can
// invent them.
func (c *Check) paceName(a *Arrival, q *judge.Request, d *judge.Decision) Verdict {
	row := ""
	if d.Agent.Crawler != nil {
		row = d.Agent.Crawler.Name
	}
	s := a.storm
	name, _ := c.memory.memo(max(1, s.key^maphash.String(c.memory.seed, row)), a.now)
	a.wait = a.take(&name.pages, q.Time, c.Window/time.Duration(c.Over), c.Over)
	if a.wait == 0 {
		return Go
	}
	address, isNew := c.memory.memo(a.group, a.now)
	a.counted = s.count(address, a.now, isNew, true, nil)
	if !s.isOn(c, q.Origin.Host, a.now) {
		return Go
	}
	a.counted = counted{}
	count("refused")
	return TooMany
}

// answerToken says what becomes of a request whose URL has the parameter. ends is false if the
// request goes on without it.
func (c *Check) answerToken(a *Arrival, s *Storm, q *judge.Request, r *http.Request, d *judge.Decision, kind clientKind) (verdict Verdict, ends bool) {
	fresh := func(k tokenKind) bool { return a.token.kind == k && a.token.isFresh(q.Time, tokenLife) }
	switch {
	case a.pressed:
		s.passed.Add(1)
		count("button")
		a.pass = a.token.as(passByButton)
		a.pass.at = a.now // the button may be pressed up to an hour after the page was made
		return Pressed, true
	case q.Method == http.MethodPost: // who presses the button of an old page gets a fresh page
		return Clean, a.formed && r.ContentLength == 0 && opensPage(r)
	case !q.Reads(), a.once:
		return Go, false
	case a.token.kind == styleToken || wantsStyle(r):
		if fresh(styleToken) && isForStyle(r) {
			address, _ := c.memory.memo(a.group, a.now)
			if !address.used.Swap(true) {
				s.waiting.Add(1)
			}
			a.pass = a.token.as(passByStyle)
			count("style")
		}
		return Sheet, true
	case fresh(openToken) && a.memory == nil && kind == stranger && s.isOn(c, q.Origin.Host, a.now) && c.closes(d.Rules, q):
		a.noStore = true // neither the style sheet nor a further try gives a cookie
		a.storm = s
		return c.ask(a, q, true), true
	}
	return Clean, true
}

// isForStyle reports whether a page of the same origin asks for a style sheet, as far as the
// browser says: no link and no image of another site gives anybody a pass.
func isForStyle(r *http.Request) bool {
	dest, site := r.Header["Sec-Fetch-Dest"], r.Header["Sec-Fetch-Site"]
	if len(dest)+len(site) == 0 {
		return true
	}
	return len(dest) == 1 && dest[0] == "style" && len(site) == 1 && site[0] == "same-origin"
}
