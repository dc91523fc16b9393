package challenge

import (
	"net/http"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/browser"
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
	now := uint32(q.Time.Unix())
	v := c.kindOf(q, r, d)
	c.watchSigns(a, q, r, d, now)
	if a.memory != nil {
		if s := c.storm(q, now, false); s != nil {
			s.trouble.cameBack()
			if a.isNew && a.pass.kind == passByStyle {
				c.count(s, Passed)
			}
		}
	}
	if a.given {
		if verdict, ends := c.answerToken(a, q, r, now, &v); ends {
			return verdict
		}
	}
	if v.kind == free {
		return Go
	}
	s := c.storm(q, now, v.kind == document)
	if s == nil {
		return Go
	}
	if v.kind == document {
		c.identify(a, q)
		return c.paceDocument(s, a, q, r, now)
	}
	c.note(s, a, q, r, v.kind)
	if v.kind == elsewhere || !s.isOn(c, q.Origin.Host, now) && !c.isSigned(a, q, r, now) || !c.closes(&v, d.Rules, q) {
		return Go
	}
	return c.paceOther(s, a, q, r, v.kind)
}

// Watch looks for a storm on the paths that robots.txt disallows, for a site without paths of
// its own. It changes nothing. The caller chooses few addresses, always the same ones: what
// Storms say is of these.
func (c *Check) Watch(a *Arrival, q *judge.Request, r *http.Request, d *judge.Decision) {
	c.identify(a, q)
	now, v := uint32(q.Time.Unix()), c.kindOf(q, r, d)
	s := c.storm(q, now, v.kind == document)
	switch {
	case v.kind == free || s == nil:
	case v.kind == document:
		s.document(c.memory.visitors.Add(a.hash, (*visitor).worth, nil), now)
		s.IsOn(now, nil)
	default:
		c.note(s, a, q, r, v.kind)
	}
}

// paceDocument says what becomes of a browser's request for a document that the check is for.
func (c *Check) paceDocument(s *stormAt, a *Arrival, q *judge.Request, r *http.Request, now uint32) Verdict {
	signed := c.isSigned(a, q, r, now)
	if a.memory != nil && !signed {
		a.wait = a.memory.documents.take(q.Time, passInterval, passBurst)
		if a.wait == 0 { // else one client could hide a storm
			s.at(now).all.Add(1)
		}
		if v := c.memory.visitors.Get(a.hash); v != nil {
			s.other(v, now)
		}
		if a.wait > 0 && s.isOn(c, q.Origin.Host, now) {
			c.count(s, Refused)
			return TooMany
		}
		return Go
	}
	v := c.memory.visitors.Add(a.hash, (*visitor).worth, nil)
	s.document(v, now)
	if a.alien && v.hasPass(now) { // else it may be anybody's forgery
		s.trouble.cameStrange(a.network, now)
	}
	if !s.isOn(c, q.Origin.Host, now) && !signed {
		return Go
	}
	a.alone = a.alone || signed || a.alien || s.trouble.noneReturns(now) || !v.mayGet(now, false) // who has an alien pass would come again and again
	a.page = newToken(q.Time)
	c.count(s, Shown)
	return Stranger
}

// note counts a request for something else than documents that the check is for. While no
// stranger comes, there is nothing to count.
func (c *Check) note(s *stormAt, a *Arrival, q *judge.Request, r *http.Request, kind requestKind) {
	now := uint32(q.Time.Unix())
	since := s.sinceStranger(now)
	if since >= lonelyFor {
		return
	}
	c.identify(a, q)
	known, isPage := c.memory.visitors.Get(a.hash), kind == elsewhere && IsDocument(r)
	counts := since < lonelyFor/2 // so that there is time for what the page embeds
	if known == nil && isPage && counts {
		known = c.memory.visitors.Add(a.hash, (*visitor).worth, nil)
	}
	if known == nil {
		return
	}
	s.other(known, now)
	switch {
	case isPage && counts:
		s.visit(known)
	case !isPage && kind != other:
		s.embed(known)
	}
}

// fetchBurst is how many requests of open pages without a pass may come at once: more would
// keep a back end from people for many seconds.
const fetchBurst = 60

// paceOther says what becomes of a request on the paths of the check that is no browser's for a
// document: such clients share a bound, so that another User-Agent is no way around.
func (c *Check) paceOther(s *stormAt, a *Arrival, q *judge.Request, r *http.Request, kind requestKind) Verdict {
	interval, burst := c.Window/time.Duration(c.Over), c.Over
	switch {
	case a.memory != nil:
		return c.take(s, a, &a.memory.documents, q.Time, passInterval/filesPerVisit, passBurst*filesPerVisit)
	case q.Authorized, kind == file && browser.IsBrowser(a.bearer.userAgent) && !isBarePost(q, r):
		return c.take(s, a, &s.fetches, q.Time, interval/10, max(burst, fetchBurst))
	}
	return c.take(s, a, &s.others, q.Time, interval, burst)
}

// take takes a request of a bucket.
func (c *Check) take(s *stormAt, a *Arrival, b *bucket, now time.Time, interval time.Duration, burst int) Verdict {
	if a.wait = b.take(now, interval, burst); a.wait == 0 {
		return Go
	}
	c.count(s, Refused)
	return TooMany
}

// count counts a result.
func (c *Check) count(s *stormAt, r Result) {
	s.counts[r].Add(1)
	c.memory.observer.Checked(r)
}

// answerToken says what becomes of a request whose URL has the parameter. ends is false if the
// request goes on without it.
func (c *Check) answerToken(a *Arrival, q *judge.Request, r *http.Request, now uint32, v *visit) (verdict Verdict, ends bool) {
	t := a.token
	fresh := func(k kind, life time.Duration) bool { return t.kind == k && t.isFresh(q.Time, life) }
	switch {
	case q.Method == http.MethodPost:
		return c.press(a, q, r, now)
	case !q.Reads():
		return Go, false
	case t.kind == styleToken || wants(r, "style", "text/css"):
		if fresh(styleToken, tokenLife) {
			c.giveStyle(a, q, now)
		}
		return Sheet, true
	case a.once:
		return Go, true
	case fresh(refreshToken, tokenLife) && a.memory == nil:
		a.alone = true // neither the style sheet nor a further try gives a cookie
		if s := c.storm(q, now, false); s != nil && v.kind == document && s.isOn(c, q.Origin.Host, now) {
			a.page = newToken(q.Time)
			c.count(s, Shown)
			return Stranger, true
		}
	}
	return Clean, true
}

// giveStyle makes a pass for a client that fetches the style sheet, if it may have one.
func (c *Check) giveStyle(a *Arrival, q *judge.Request, now uint32) {
	p := c.memory.pass(a.token)
	if !p.given.Load() && !c.memory.visitors.Add(a.hash, (*visitor).worth, nil).mayGet(now, true) {
		return
	}
	p.given.Store(true)
	s := c.storm(q, now, true) // another server may have made the page
	a.pass = a.token.as(passByStyle)
	s.trouble.fetchedStyle(a.network, now)
	c.count(s, Style)
}

// press says what becomes of a POST with the parameter. Who presses the button of an old page, or
// from another network than that of the page, gets a fresh page.
func (c *Check) press(a *Arrival, q *judge.Request, r *http.Request, now uint32) (verdict Verdict, ends bool) {
	if !a.pressed {
		return Clean, a.formed && r.ContentLength == 0 && IsDocument(r)
	}
	p := c.memory.pass(a.token)
	if !p.given.Load() {
		if a.wait = c.memory.visitors.Add(a.hash, (*visitor).worth, nil).mayPress(now); a.wait > 0 {
			a.Ask(q.Time)
			return Stranger, true
		}
	}
	p.given.Store(true)
	if s := c.storm(q, now, false); s != nil {
		c.count(s, Button)
	}
	a.pass = a.token.as(passByButton)
	a.pass.at = now // the button may be pressed up to an hour after the page was made
	return Pressed, true
}
