package challenge

import (
	"hash/maphash"
	"net/http"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Verdict is what becomes of a request.
type Verdict uint8

// The verdicts of Pace.
const (
	Go       Verdict = iota // the request goes on
	Stranger                // the client does not show that it is a browser: the page
	TooMany                 // 429
	Sheet                   // the style sheet
	Clean                   // 303 to the URL without the parameter
	Pressed                 // the same, with the cookie
)

// Pace says what becomes of a request that a decision lets through, and of one with a token.
func (c *Check) Pace(a *Arrival, q *judge.Request, r *http.Request, d *judge.Decision) Verdict {
	now, kind := uint32(q.Time.Unix()), c.kindOf(q, d)
	c.watchSigns(a, q, r, d, now)
	if a.memory != nil {
		s := c.storm(q, now)
		s.trouble.cameBack()
		if a.isNew && a.pass.kind == passByStyle {
			s.passed.Add(1)
			count(passed)
		}
		switch cell := s.cohorts.cellOf(c.memory.seed, a.bearer.userAgent); {
		case a.isNew:
			cell.passes.Add(1)
		case a.isBack:
			cell.back.Add(1)
		}
	}
	if a.given {
		if verdict, ends := c.answerToken(a, q, r, d, kind); ends {
			return verdict
		}
	}
	if kind == free {
		return Go
	}
	c.identify(a, q)
	s := c.storm(q, now)
	a.begin(c, s, q, r, d)
	switch {
	case kind == named && a.matches:
		return c.paceName(a, q, d)
	case kind == named:
		return Go
	}
	a.client, a.cell = c.clientOf(a, r, now), s.cohorts.cellOf(c.memory.seed, a.bearer.userAgent)
	if !a.matches {
		return Go
	}
	return c.paceStranger(a, q, r)
}

// Watch looks for a storm on the paths that robots.txt disallows, for a site without paths of
// its own. It changes nothing. The caller chooses few addresses, always the same ones: what
// Storms say is of these.
func (c *Check) Watch(a *Arrival, q *judge.Request, r *http.Request, d *judge.Decision) {
	if c.kindOf(q, d) != stranger {
		return
	}
	c.identify(a, q)
	now := uint32(q.Time.Unix())
	s := c.storm(q, now)
	a.begin(c, s, q, r, d)
	a.client, a.cell = c.clientOf(a, r, now), s.cohorts.cellOf(c.memory.seed, a.bearer.userAgent)
	if a.matches {
		a.cell.counts(a.bearer.userAgent)
		group, isNew := c.memory.visitor(a.group, now)
		a.counted = s.count(group, now, isNew, false, a.cell)
		s.IsOn(now, nil)
	}
}

// paceStranger says what becomes of a request, on the paths of the check, of a client that no
// rule binds and that names no crawler.
func (c *Check) paceStranger(a *Arrival, q *judge.Request, r *http.Request) Verdict {
	now, s := a.now, a.storm
	group, isNew := c.memory.visitor(a.group, now)
	isSigned, isOn := c.isSigned(a, q, r, now), s.isOn(c, q.Origin.Host, now)
	if a.memory != nil && !isSigned {
		if !isOn || a.takePage(group, q.Time) {
			a.renews = isOn && a.pass.mayRenew(q.Time, c.For)
			return Go
		}
		return c.ask(a, q, true)
	}
	a.cell.counts(a.bearer.userAgent)
	a.counted = s.count(group, now, isNew, false, a.cell)
	address, _ := c.memory.visitor(a.address, now)
	switch {
	case !isOn && !isSigned, isPreflight(r):
		return Go
	case !isSigned && !opens(q, r) && !c.Always && a.client.isKnown(s.since.Load()):
		a.wait = a.take(&address.known, q.Time, knownInterval, knownBurst)
		if a.wait == 0 {
			return Go
		}
	}
	a.counted = counted{} // it counts as the page that it replaces
	_, noneReturns := s.trouble.noneReturns(now)
	return c.ask(a, q, isSigned || noneReturns || !address.mayGet(now, false))
}

// ask makes the page the answer.
func (c *Check) ask(a *Arrival, q *judge.Request, alone bool) Verdict {
	a.giveBack()
	a.alone, a.page = alone, newToken(q.Time)
	a.storm.asked.Add(1)
	count(shown)
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
	name, _ := c.memory.visitor(max(1, s.key^maphash.String(c.memory.seed, row)), a.now)
	a.wait = a.take(&name.known, q.Time, c.Window/time.Duration(c.Over), c.Over)
	if a.wait == 0 {
		return Go
	}
	group, isNew := c.memory.visitor(a.group, a.now)
	a.counted = s.count(group, a.now, isNew, true, nil)
	if !s.isOn(c, q.Origin.Host, a.now) {
		return Go
	}
	a.counted = counted{}
	count(refused)
	return TooMany
}

// count counts a result.
func count(result string) { results.WithLabelValues(result).Inc() }

// answerToken says what becomes of a request whose URL has the parameter. ends is false if the
// request goes on without it.
func (c *Check) answerToken(a *Arrival, q *judge.Request, r *http.Request, d *judge.Decision, kind clientKind) (verdict Verdict, ends bool) {
	t, now := a.token, uint32(q.Time.Unix())
	fresh := func(k tokenKind, life time.Duration) bool { return t.kind == k && t.isFresh(q.Time, life) }
	switch {
	case q.Method == http.MethodPost:
		return c.press(a, q, r, now)
	case !q.Reads(), a.once:
		return Go, false
	case t.kind == styleToken || wants(r, "style", "text/css"):
		if fresh(styleToken, tokenLife) && isForStyle(r) {
			c.giveStyle(a, q, r, now)
		}
		return Sheet, true
	case fresh(openToken, tokenLife) && a.memory == nil:
		s := c.storm(q, now)
		if kind == stranger && s.isOn(c, q.Origin.Host, now) && c.closes(d.Rules, q) {
			a.noStore = true // neither the style sheet nor a further try gives a cookie
			a.storm = s
			return c.ask(a, q, true), true
		}
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

// styleAgain is for how many seconds the passes of one browser count as one: of tabs that it
// opens at once.
const styleAgain = 10

// giveStyle makes a pass for a client that fetches the style sheet, if it may have one.
func (c *Check) giveStyle(a *Arrival, q *judge.Request, r *http.Request, now uint32) {
	c.identify(a, q)
	p, client := c.memory.pass(a.token), c.clientOf(a, r, now)
	if again := now - client.styled.Load(); !p.given.Load() && again > styleAgain {
		address, _ := c.memory.visitor(a.address, now)
		if !address.mayGet(now, true) {
			return
		}
		client.styled.Store(now)
	}
	p.given.Store(true)
	s := c.storm(q, now)
	a.pass = a.token.as(passByStyle)
	s.trouble.fetchedStyle(a.network, now)
	count(style)
}

// press says what becomes of a POST with the parameter. Who presses the button of an old page
// gets a fresh page.
func (c *Check) press(a *Arrival, q *judge.Request, r *http.Request, now uint32) (verdict Verdict, ends bool) {
	if !a.pressed {
		return Clean, a.formed && r.ContentLength == 0 && IsDocument(r)
	}
	c.storm(q, now).passed.Add(1)
	count(pressing)
	a.pass = a.token.as(passByButton)
	a.pass.at = now // the button may be pressed up to an hour after the page was made
	return Pressed, true
}
