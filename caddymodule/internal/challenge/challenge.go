// Package challenge tells browsers from disguised robots while strangers storm pages:
// while many addresses request a document of certain paths and nothing else, a client
// without a pass gets a page that a browser passes by itself. Below that nobody notices
// anything.
//
// A Memory outlives a configuration and has the keys, the addresses, the passes and a
// Storm for each origin. A Check has the settings of a handler. For each request, the
// handler calls Receive before it decides, Pace after that, and Serve if the Verdict says
// that the request is answered here.
//
// Tokens and passes are stateless, and signed: see token.go. What is counted is bounded,
// and holds keyed hashes of addresses.
package challenge

import (
	"encoding/binary"
	"hash/maphash"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/table"
	"github.com/caddy-robots/caddy-robots/internal/visible"
)

// Bounds of what a Memory remembers: about 30 MB if all of it is used.
const (
	maxVisitors = 7 << 15 // addresses
	maxPasses   = 7 << 12
	maxStorms   = 1 << 10 // origins
)

// Result is what became of a request, for the metrics.
type Result uint8

// The results of checks.
const (
	Shown   Result = iota // a stranger got the page
	Style                 // a client got the cookie with the style sheet
	Passed                // a client came back with a new pass that the style sheet gave
	Button                // somebody pressed the button
	Refused               // a request got 429, because the clients that share a bound with it send too many
	endOfResults
)

// Results is the number of results.
const Results = int(endOfResults)

// String returns shown, style, passed, button or refused.
func (r Result) String() string {
	return [...]string{"shown", "style", "passed", "button", "refused"}[r]
}

// Observer is told what happens. It must be safe for concurrent use, and not block.
type Observer interface {
	Checked(Result)
	KeyFailed(error) // nil when the keys are in order again
}

// Memory has what checks remember. It is safe for concurrent use.
type Memory struct {
	observer Observer
	ring     atomic.Pointer[ring]
	loaded   atomic.Bool // ring has keys that outlive the process
	inFleet  atomic.Bool
	visitors *table.Table[visitor]
	passes   *table.Table[pass]
	storms   *table.Table[stormAt]
	seed     maphash.Seed
}

// stormAt is a Storm in the table.
type stormAt struct {
	Storm
	seen atomic.Uint32
}

// NewMemory returns an empty Memory. It checks nobody until Run has loaded a key; the
// button for suspects works with a key of this process until then.
func NewMemory(o Observer) *Memory {
	m := &Memory{observer: o, seed: maphash.MakeSeed(), visitors: table.New[visitor](maxVisitors), passes: table.New[pass](maxPasses),
		storms: table.New[stormAt](maxStorms)}
	m.ring.Store(&ring{randomKey(time.Time{})})
	return m
}

// Storms calls yield for each storm.
func (m *Memory) Storms(yield func(*Storm) bool) {
	for s := range m.storms.All() {
		if !yield(&s.Storm) {
			return
		}
	}
}

// pass is what is remembered of a pass.
type pass struct {
	documents bucket
	mu        sync.Mutex
	seen      uint32
	hour      uint32
	networks  [passNetworks]uint64 // that it came from in this hour
	n         int
	returned  bool // a client came back with it
	shown     bool // it was shown a page without a cookie
}

// The bounds of a pass.
const (
	passNetworks  = 16 // an hour
	passInterval  = time.Second
	passBurst     = 120
	filesPerVisit = 10 // requests that are no documents count as one
)

func (p *pass) worth() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.seen)
}

// from counts a network, and reports whether the pass is good there; first says that
// it was not used before.
func (p *pass) from(network uint64, now uint32) (good, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if hour := now / 3600; p.hour != hour {
		p.hour, p.n = hour, 0
	}
	p.seen = max(p.seen, now)
	for _, known := range p.networks[:p.n] {
		if known == network {
			first, p.returned = !p.returned, true
			return true, first
		}
	}
	if p.n == passNetworks {
		return false, false
	}
	p.networks[p.n] = network
	p.n++
	first, p.returned = !p.returned, true
	return true, first
}

// showOnce reports whether a page may be shown for a token without a cookie: once.
func (p *pass) showOnce() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	once := !p.shown
	p.shown = true
	return once
}

// Config has the settings of a Check.
type Config struct {
	Paths  string        // identifies the paths, in the name of a storm
	Over   int           // documents of lone addresses in Window
	Window time.Duration // from 10 seconds to 10 minutes
	For    time.Duration // how long a pass is good
	Mark   bool          // strangers are only marked
	Page   *Page
	Busy   func() bool // whether the server is busy; nil if nobody knows
}

// Check is the check of a handler. It is safe for concurrent use.
type Check struct {
	Config
	memory *Memory
	off    sync.Map // of the origins' hosts, and "" for all, for which the operator has switched it off
}

// New returns a Check.
func New(m *Memory, c Config) *Check { return &Check{Config: c, memory: m} }

// Arrival is what a request has brought. The zero value is one that has brought nothing.
type Arrival struct {
	bearer  bearer
	hash    uint64 // of the address at this origin
	given   bool   // the URL had the parameter
	pressed bool   // by a press of the button
	once    bool   // the page may be shown this time, to a client that keeps no cookie
	token   token  // of the parameter, if it is our own
	pass    token  // of the cookie, if it is good here
	memory  *pass  // of the pass
	isNew   bool   // nobody has come with the pass before
	alien   bool   // the cookie is a pass of another server
	page    token  // of the page that answers the request
	alone   bool   // the page has the button alone
	wait    time.Duration
}

// IsFreed reports whether somebody has pressed the button of the page: with this request, or
// before.
func (a *Arrival) IsFreed() bool { return a.pressed || a.once || a.pass.kind == passByButton }

// isSameOrigin reports whether a page of the same origin caused a request, as far as the
// browser says.
func isSameOrigin(r *http.Request) bool {
	return !slices.ContainsFunc(r.Header["Sec-Fetch-Site"], func(site string) bool { return site != "same-origin" })
}

// Reference returns the characters by which the page names the check; "" if there is none.
func (a *Arrival) Reference() string {
	if a.page.at == 0 {
		return ""
	}
	return a.page.reference()
}

// Wait returns after what time the client may come again.
func (a *Arrival) Wait() time.Duration { return a.wait }

// Receive takes the parameter and the cookie from a request, before anything else looks
// at it.
func (c *Check) Receive(a *Arrival, q *judge.Request, r *http.Request) {
	text, given := takeParameter(q, r)
	cookie := takeCookie(r, q.Origin.Scheme == "https")
	c.identify(a, q)
	if a.given = given; !given && cookie == "" {
		return
	}
	a.bearer.target = q.Target
	keys := *c.memory.ring.Load()
	if given {
		a.token, _ = keys.open(text, &a.bearer)
		a.pressed = q.Method == http.MethodPost && a.token.kind == buttonToken && a.token.isFresh(q.Time, buttonLife) && isSameOrigin(r)
	}
	if cookie != "" {
		c.receivePass(a, keys, cookie, q.Time)
	}
	if q.Reads() && a.memory == nil && a.token.kind == pageToken && a.token.isFresh(q.Time, tokenLife) {
		a.once = c.memory.pass(a.token, nil).showOnce()
	}
}

// receivePass reads the cookie.
func (c *Check) receivePass(a *Arrival, keys ring, cookie string, now time.Time) {
	t, from := keys.open(cookie, &a.bearer)
	a.alien = from == foreign && !c.memory.inFleet.Load()
	if from != own || !t.kind.isPass() || !t.isFresh(now, c.For) {
		return
	}
	p := c.memory.pass(t, nil)
	network := maphash.Comparable(c.memory.seed, visible.Network(a.bearer.addr))
	if good, first := p.from(network, uint32(now.Unix())); good {
		a.pass, a.memory, a.isNew = t, p, first
	}
}

// identify fills in the client.
func (c *Check) identify(a *Arrival, q *judge.Request) {
	a.bearer.origin = q.Origin
	a.bearer.addr, _ = netip.ParseAddr(q.Client)
	if len(q.UserAgents) > 0 {
		a.bearer.userAgent = q.UserAgents[0]
	}
	var b [26]byte
	binary.NativeEndian.PutUint64(b[:], maphash.String(c.memory.seed, q.Origin.Host))
	network := netaddr.Client(a.bearer.addr).As16()
	copy(b[8:], network[:])
	binary.NativeEndian.PutUint16(b[24:], q.Origin.Port)
	a.hash = max(1, maphash.Bytes(c.memory.seed, b[:]))
}

// pass returns what is remembered of a pass. isNew, if it is not nil, is set if that is
// nothing yet.
func (m *Memory) pass(t token, isNew *bool) *pass {
	return m.passes.Add(max(1, maphash.Bytes(m.seed, t.id[:])), (*pass).worth, func(p *pass) {
		if p.seen = t.at; isNew != nil {
			*isNew = true
		}
	})
}

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

// Pace says what becomes of a request that a decision lets through. monitored says that
// nothing may be refused.
func (c *Check) Pace(a *Arrival, q *judge.Request, r *http.Request, d *judge.Decision) Verdict {
	now := uint32(q.Time.Unix())
	v := kindOf(a, q, r, d)
	if a.isNew {
		if s := c.storm(q, now, false); s != nil {
			s.trouble.cameBack(a.hash, now)
			if a.pass.kind == passByStyle {
				c.count(s, Passed)
			}
		}
	}
	if a.given {
		if verdict, ends := c.answerToken(a, q, r, now, &v); ends {
			return verdict
		}
	}
	if v.kind == free || c.Over == 0 {
		return Go
	}
	s := c.storm(q, now, v.kind == document)
	if s == nil {
		return Go
	}
	if v.kind == document && v.closed {
		return c.paceDocument(s, a, q, d, now)
	}
	c.note(s, a, now, &v)
	if !s.isOn(c, q.Origin.Host, now) || !v.closedTo(d.Rules, q) {
		return Go
	}
	return c.paceOther(s, a, q, r, v.kind)
}

// paceDocument says what becomes of a browser's request for a document that the check is for.
func (c *Check) paceDocument(s *stormAt, a *Arrival, q *judge.Request, d *judge.Decision, now uint32) Verdict {
	if a.memory != nil {
		s.at(now).all.Add(1)
		if v := c.memory.visitors.Get(a.hash); v != nil {
			s.other(v, now)
		}
		if s.isOn(c, q.Origin.Host, now) {
			return c.take(s, a, &a.memory.documents, q.Time, passInterval, passBurst)
		}
		return Go
	}
	v := c.memory.visitors.Add(a.hash, (*visitor).worth, nil)
	s.document(v, now)
	if a.alien {
		s.trouble.cameStrange(a.hash, now)
	}
	if !s.isOn(c, q.Origin.Host, now) {
		return Go
	}
	a.alone = a.alone || a.alien || !v.mayGet(now, false) // who has an alien pass would come again and again
	c.show(a, q.Time)
	c.count(s, Shown)
	return Stranger
}

// note counts a request for something else than documents that the check is for.
func (c *Check) note(s *stormAt, a *Arrival, now uint32, v *visit) {
	if v.kind == document {
		known := c.memory.visitors.Add(a.hash, (*visitor).worth, nil)
		s.visit(known)
		s.other(known, now)
		return
	}
	if known := c.memory.visitors.Get(a.hash); known != nil {
		s.other(known, now)
		if v.kind == file {
			s.embed(known)
		}
	}
}

// paceOther says what becomes of a request on the paths of the check that is no browser's for a
// document: such clients share a bound, so that another User-Agent is no way around.
func (c *Check) paceOther(s *stormAt, a *Arrival, q *judge.Request, r *http.Request, kind requestKind) Verdict {
	interval, burst := c.Window/time.Duration(c.Over), c.Over
	switch {
	case a.memory != nil:
		return c.take(s, a, &a.memory.documents, q.Time, passInterval/filesPerVisit, passBurst*filesPerVisit)
	case q.Authorized, kind == file && isBrowser(a.bearer.userAgent) && !isBarePost(q, r):
		return c.take(s, a, &s.fetches, q.Time, interval/10, burst*10)
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
	s.Counts[r].Add(1)
	c.memory.observer.Checked(r)
}

// show makes the tokens of the page that answers a request.
func (c *Check) show(a *Arrival, now time.Time) { a.page = newToken(now) }

// Ask makes the page with the button alone the answer to a request.
func (c *Check) Ask(a *Arrival, now time.Time) {
	a.alone = true
	c.show(a, now)
}

// answerToken says what becomes of a request whose URL has the parameter. ends is false if the
// request goes on without it.
func (c *Check) answerToken(a *Arrival, q *judge.Request, r *http.Request, now uint32, v *visit) (verdict Verdict, ends bool) {
	t := a.token
	fresh := func(k kind, life time.Duration) bool { return t.kind == k && t.isFresh(q.Time, life) }
	switch {
	case q.Method == http.MethodPost:
		return c.press(a, q, now)
	case !q.Reads():
		return Go, false
	case t.kind == styleToken || wants(r, "style", "text/css"):
		if !fresh(styleToken, tokenLife) {
			a.token = token{}
			return Sheet, true
		}
		c.giveStyle(a, q, now)
		return Sheet, true
	case a.once:
		return Go, true
	case fresh(refreshToken, tokenLife) && a.memory == nil:
		a.alone = true // neither the style sheet nor a further try gives a cookie
		if s := c.storm(q, now, false); s != nil && v.kind == document && v.closed && s.isOn(c, q.Origin.Host, now) {
			c.show(a, q.Time)
			c.count(s, Shown)
			return Stranger, true
		}
	}
	return Clean, true
}

// giveStyle makes a pass for a client that fetches the style sheet, if it may have one.
func (c *Check) giveStyle(a *Arrival, q *judge.Request, now uint32) {
	s := c.storm(q, now, false)
	visitor := c.memory.visitors.Get(a.hash)
	if s == nil || visitor == nil {
		a.token = token{}
		return
	}
	isNew := false
	c.memory.pass(a.token, &isNew)
	if isNew && !visitor.mayGet(now, true) {
		a.token = token{}
		return
	}
	a.pass = a.token.as(passByStyle)
	s.trouble.fetchedStyle(a.hash, now)
	c.count(s, Style)
}

// press says what becomes of a POST with the parameter.
func (c *Check) press(a *Arrival, q *judge.Request, now uint32) (verdict Verdict, ends bool) {
	if !a.pressed {
		return Go, false
	}
	isNew := false
	c.memory.pass(a.token, &isNew)
	if isNew {
		if a.wait = c.memory.visitors.Add(a.hash, (*visitor).worth, nil).mayPress(now); a.wait > 0 {
			c.Ask(a, q.Time)
			return Stranger, true
		}
	}
	if s := c.storm(q, now, false); s != nil {
		c.count(s, Button)
	}
	a.pass = a.token.as(passByButton)
	a.pass.at = now // the button may be pressed up to an hour after the page was made
	return Pressed, true
}

// requestKind says what a request is, for a check.
type requestKind uint8

const (
	free     requestKind = iota // not held here
	other                       // of a client that no rule binds
	file                        // of a person, or of a client that looks so, and no document
	document                    // of a person
)

// visit is a request, for a check.
type visit struct {
	kind    requestKind
	closed  bool // the check is for the path
	matched bool // closed is known
}

// closedTo reports whether the check is for the path of a request.
func (v *visit) closedTo(rules *judge.Rules, q *judge.Request) bool {
	if !v.matched {
		v.closed, v.matched = rules.Challenges(q.Target), true
	}
	return v.closed
}

// kindOf says what a request is.
func kindOf(a *Arrival, q *judge.Request, r *http.Request, d *judge.Decision) (v visit) {
	if d.Action != judge.Pass {
		return v
	}
	switch class := d.Agent.Class; {
	case class == crawler.Probe, class == crawler.Webhook && !q.Reads(), d.Claim.State == verify.Verified:
	case d.Reason == judge.Exempt, d.Reason == judge.ExemptPath, d.Reason == judge.Allowed, d.Reason == judge.Graced:
	case class != crawler.Person || d.Reason != judge.Person || len(q.UserAgents) != 1:
		v.kind = other
	case !q.Reads() || q.Authorized || !isDocument(r):
		v.kind = file
	case v.closedTo(d.Rules, q) && !isBrowser(a.bearer.userAgent):
		v.kind = other
	default:
		v.kind = document
	}
	return v
}

// isBarePost reports whether a request changes something and has nothing that browsers
// send with it.
func isBarePost(q *judge.Request, r *http.Request) bool {
	return !q.Reads() && len(r.Header["Sec-Fetch-Site"]) == 0 && len(r.Header["Cookie"]) == 0
}

// storm returns the storm of the origin of a request. Without create, it is nil if there
// is none yet.
func (c *Check) storm(q *judge.Request, now uint32, create bool) *stormAt {
	name := q.Origin.Host
	if q.Invented { // hosts that anybody can invent
		name = q.Site
	}
	hash := maphash.String(c.memory.seed, name) ^ maphash.String(c.memory.seed, c.Paths) + uint64(q.Origin.Port)
	hash = max(1, hash)
	s := c.memory.storms.Get(hash)
	if s == nil {
		if !create {
			return nil
		}
		s = c.memory.storms.Add(hash, func(s *stormAt) int64 { return int64(s.seen.Load()) }, func(s *stormAt) {
			s.start(name, c.Over, int(c.Window/time.Second))
		})
	}
	if s.seen.Load() != now {
		s.seen.Store(now)
	}
	return s
}

// isOn reports whether strangers are checked at a host.
func (s *stormAt) isOn(c *Check, host string, now uint32) bool {
	if !s.IsOn(now, c.Busy) || !c.memory.loaded.Load() {
		return false
	}
	_, all := c.off.Load("")
	_, here := c.off.Load(host)
	return !all && !here
}

// Set switches the check off for a host, or for all hosts ("") of the handler, until it is
// switched on again.
func (c *Check) Set(host string, on bool) {
	if on {
		if c.off.Delete(host); host == "" {
			c.off.Clear()
		}
		return
	}
	c.off.Store(host, true)
}

// isDocument reports whether a request is for a document: by Sec-Fetch-Dest or, in browsers
// that send no such field, unless Accept says that the page embeds what it gets. A prefetch
// is none.
func isDocument(r *http.Request) bool {
	h := r.Header
	if len(h["Sec-Purpose"])+len(h["Purpose"])+len(h["X-Moz"])+len(h["Upgrade"]) > 0 || r.Method == http.MethodConnect {
		return false
	}
	if dest := h["Sec-Fetch-Dest"]; len(dest) > 0 {
		return len(dest) > 1 || dest[0] == "document"
	}
	if len(h["Sec-Fetch-Site"])+len(h["Sec-Fetch-Mode"])+len(h["Sec-Fetch-User"]) > 0 {
		return false
	}
	accept := h["Accept"]
	if len(accept) == 0 {
		return true
	}
	for _, media := range [...]string{"image/", "text/css", "font/", "audio/", "video/", "text/event-stream"} {
		if strings.HasPrefix(accept[0], media) {
			return false
		}
	}
	return true
}

// wants reports whether a request is for an embedded file of a kind.
func wants(r *http.Request, dest, media string) bool {
	if d := r.Header["Sec-Fetch-Dest"]; len(d) > 0 {
		return d[0] == dest
	}
	accept := r.Header["Accept"]
	return len(accept) > 0 && strings.HasPrefix(accept[0], media)
}

// browserWords are in the User-Agents of browsers and WebViews, after the platform.
var browserWords = [...]string{" Chrome/", " Safari/", " Firefox/", " Version/", " Mobile/", " FxiOS/", " CriOS/", " EdgiOS/",
	") like Gecko", " Edge/", " OPR/", " SamsungBrowser/"}

// otherWords are in the User-Agents of programs that begin like a browser's and show no
// page in a tab.
var otherWords = [...]string{"Thunderbird/", "mirall/", "Nextcloud", "ownCloud", "SeaMonkey-Mail/"}

// isBrowser reports whether a User-Agent has the form of a browser's or of a WebView's.
func isBrowser(ua string) bool {
	rest, ok := strings.CutPrefix(ua, "Mozilla/5.0 (")
	if !ok {
		return false
	}
	for _, word := range otherWords {
		if strings.Contains(rest, word) {
			return false
		}
	}
	for _, word := range browserWords {
		if strings.Contains(rest, word) {
			return true
		}
	}
	return false
}
