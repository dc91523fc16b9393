package audit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Options say what is read and how it is judged.
type Options struct {
	Files []File
	// Format describes the lines in the notation of nginx's log_format, where
	// they are of no format that is known; "" otherwise.
	Format string
	// Zone is where times without a zone are of; nil for UTC, with a warning.
	Zone *time.Location
	// Sites are the sites of the log. Without any, nothing is judged.
	Sites []Site
	// Compare has requests judged by Site.Was too.
	Compare bool
	// Verify looks up the claims of crawlers that the Verification of the sites'
	// rules does not know yet.
	Verify bool
	// Full shows addresses and values of queries.
	Full bool
	// Warnings are added to those of the report.
	Warnings []Warning
	// Now is the time of the audit itself; nil: time.Now.
	Now func() time.Time
	// Progress is told now and then how far the audit is; nil: nobody is.
	Progress func(Progress)
}

// Site is a site of the log, with its settings and the versions of its
// robots.txt.
type Site struct {
	// Hosts are the names of hosts, with a wildcard in place of the first label
	// or not; none: all.
	Hosts []string
	Rules enforce.Rules
	// Robots is empty where no robots.txt is known: then nothing is judged.
	Robots []Version
	// Was is what Robots is compared with.
	Was []Version
}

// Progress is how far an audit is.
type Progress struct {
	Lines int64
	Read  int64 // octets of the files, as they are stored
}

// progressEvery is after how many lines Options.Progress is told.
const progressEvery = 1 << 14

// auditor is one audit.
type auditor struct {
	options Options
	mask    masker
	sites   []*site
	seq     *sequence

	hosts     *hosts
	crawlers  *crawlers
	people    *people
	referrals *referrals
	activity  activity
	addresses distinct
	traps     traps
	against   *against
	claims    *claims

	input    *input // of the line that is being judged
	clock    int64  // the latest time
	order    int64
	pending  pending
	request  enforce.Request
	decision enforce.Decision
	was      enforce.Decision
	verdicts verdicts
	untimed  activityStep // of requests without a time

	lines, unreadable, other, requests, persons, octets int64
	first, last                                         int64
	timed                                               bool
	judged, denied, throttled, browsers                 int64
	search, searchVerified                              int64
	reasons, purposes                                   *counter
	problems                                            [problems]int64
	examples                                            []UnreadableExample
}

// Run reads logs and reports what it found. The error tells that a log could
// not be read at all, or is none.
func Run(ctx context.Context, o Options) (*Report, error) {
	a, err := newAuditor(ctx, o)
	if err != nil {
		return nil, err
	}
	if a.seq, err = newSequence(o.Files, o.Format, zoneOf{o.Zone}); err != nil {
		return nil, err
	}
	defer a.seq.close()
	if err := a.read(ctx); err != nil {
		return nil, err
	}
	return a.report(), nil
}

// newAuditor returns one that is ready to read. Where claims are verified, it
// has looked them up.
func newAuditor(ctx context.Context, o Options) (*auditor, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &auditor{
		options: o, mask: masker{o.Full}, crawlers: newCrawlers(), people: newPeople(), referrals: newReferrals(),
		addresses: distinct{precision: 14}, reasons: newCounter(enforce.Reasons), purposes: newCounter(maxNames),
	}
	if err := a.addSites(); err != nil {
		return nil, err
	}
	a.crawlers.merge = a.mergeRules
	a.hosts = newHosts(a.sites)
	if o.Compare {
		a.against = newAgainst()
	}
	if o.Verify {
		a.claims = newClaims()
		if err := a.learnClaims(ctx); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// read goes through all lines.
func (a *auditor) read(ctx context.Context) error {
	var in *input
	for {
		var err error
		if in, err = a.seq.next(in); err != nil {
			return err
		}
		if in == nil {
			break
		}
		if a.lines++; a.lines%progressEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if a.options.Progress != nil {
				a.options.Progress(Progress{a.lines, a.seq.read()})
			}
		}
		if err := a.count(ctx, in); err != nil {
			return err
		}
	}
	for len(a.pending) > 0 {
		a.release(1<<63 - 1)
	}
	return a.checkAgents()
}

// count counts one line.
func (a *auditor) count(ctx context.Context, in *input) error {
	in.report.Lines++
	switch in.problem {
	case fine:
	case noRequest:
		a.other++
		return nil
	default:
		a.unread(in)
		return nil
	}
	if in.report.Requests++; in.report.Requests == 1 {
		in.report.Format = in.formats.main.name()
	}
	a.requests++
	e := &in.head
	if len(e.agents) > 0 && e.agents[0] != "" {
		in.nonEmpty++
	}
	if len(e.agents) > 0 {
		in.fields++
	} else if in.report.Requests == agentless && in.fields == 0 {
		return fmt.Errorf("%s %w", in.file.Name, errNoAgents)
	}
	a.input = in
	a.place(in, e)
	a.judge(ctx, e)
	return nil
}

// agentless is after how many requests without a field for the User-Agent a log
// is given up.
const agentless = 1000

// enoughRequests is from how many requests on it is odd that none has a
// User-Agent.
const enoughRequests = 100

// checkAgents reports a log that has no User-Agents.
func (a *auditor) checkAgents() error {
	for _, in := range a.seq.all {
		n := in.report.Requests
		if n > 0 && in.fields == 0 || n >= enoughRequests && in.nonEmpty == 0 {
			return fmt.Errorf("%s %w", in.file.Name, errNoAgents)
		}
		if in.cut != nil && in.report.Lines == 0 {
			return fmt.Errorf("%s: %w", in.file.Name, in.cut)
		}
	}
	if a.requests == 0 && a.unreadable > 0 {
		return fmt.Errorf("%s %w", a.seq.all[0].file.Name, errFormat)
	}
	return nil
}

// maxUnreadable is how many lines that can't be read are shown.
const maxUnreadable = 10

func (a *auditor) unread(in *input) {
	a.unreadable++
	in.report.Unreadable++
	a.problems[in.problem]++
	if len(a.examples) < maxUnreadable {
		a.examples = append(a.examples, UnreadableExample{
			Input: in.file.Name, LineNo: in.number, Reason: in.problem.String(), Text: a.mask.line(in.line),
		})
	}
}

// place notes when a request came.
func (a *auditor) place(in *input, e *entry) {
	if !e.timed {
		a.traps.untimed++
		e.at = a.clock
		return
	}
	in.coarse = max(in.coarse, e.resolution)
	if !e.zoned {
		in.zoneless++
	}
	if !a.timed {
		a.first, a.last, a.clock, a.timed = e.at, e.at, e.at, true
	}
	if in.begin == 0 {
		in.begin, in.end = e.at, e.at
	}
	in.begin, in.end = min(in.begin, e.at), max(in.end, e.at)
	a.first, a.last = min(a.first, e.at), max(a.last, e.at)
	a.traps.time(a.clock, e.at)
	a.clock = max(a.clock, e.at)
}

// judge counts a request and finds out what would have become of it.
func (a *auditor) judge(ctx context.Context, e *entry) {
	h := a.hosts.of(e.host)
	s := h.site
	r := &a.request
	*r = request(e, h)
	src, edition := s.at(e.at)
	if src != nil {
		src.requests++
		a.judged++
	}
	d := &a.decision
	s.replay.Decide(edition, r, d)
	if a.options.Verify && a.claims.wants(d) && a.input.file.Once {
		a.claims.lookUp(ctx, s, r, d)
		s.replay.Decide(edition, r, d)
	}
	var was *enforce.Decision
	read := isRead(e)
	if read {
		s.replay.RobotsRead(edition, r)
	}
	if a.against != nil {
		before := s.editionBefore(e.at)
		was = &a.was
		if read {
			s.before.RobotsRead(before, r)
		}
		s.before.Decide(before, r, was)
	}
	a.octets += e.bytes
	h.requests++
	address := xxhash.Sum64String(e.client)
	a.addresses.add(address)
	a.traps.request(e)
	step := &a.untimed
	if e.timed {
		step = a.activity.at(e.at)
	}
	var c *crawlerTally
	if d.Agent.Class == crawler.Person {
		a.person(e, step)
		if was == nil || was.Agent.Class == crawler.Person {
			return
		}
	} else {
		step.robots++
		h.robots++
		c = a.crawlers.of(&d.Agent)
		a.tally(c, e, src, h, address)
	}
	a.verdict(e, c, h, src, was)
}

// isRead reports whether a request read the robots.txt that was in force.
func isRead(e *entry) bool {
	return (e.status == http.StatusOK || e.status == http.StatusNotModified) && e.method == http.MethodGet && enforce.IsRobotsTxt(e.target)
}

// request returns an entry as the engine wants it.
func request(e *entry, h *hostTally) enforce.Request {
	return enforce.Request{
		Method: e.method, Target: e.target, UserAgents: e.agents, Origin: h.origin, Client: e.client, Time: e.time(), Authorized: e.authorized,
	}
}

// person counts a request of a person.
func (a *auditor) person(e *entry, step *activityStep) {
	a.persons++
	step.people++
	a.people.add(e.agent())
	if (e.referer != "" || strings.Contains(e.target, "utm_source=")) && e.status < 400 {
		a.referrals.add(e.referer, e.target)
	}
}

// verdict counts the decisions on a request, or has them wait for those that
// came before it and stand behind it in the log.
func (a *auditor) verdict(e *entry, c *crawlerTally, h *hostTally, src *source, was *enforce.Decision) {
	v := &a.verdicts
	*v = verdicts{
		at: e.at, timed: e.timed, site: h.site, request: a.request, now: a.decision, was: was, crawler: c, host: h, source: src,
		fine: e.begun && e.resolution <= int64(10*time.Millisecond), coarse: e.resolution, input: a.input, number: a.input.number, status: e.status, agent: e.agent(),
	}
	if !e.timed || !v.now.Paced() && (was == nil || !was.Paced()) {
		a.settle(v)
		return
	}
	held := new(verdicts)
	*held = *v
	held.clone()
	a.queue(held)
}

// tally counts what a crawler did.
func (a *auditor) tally(c *crawlerTally, e *entry, src *source, h *hostTally, address uint64) {
	d := &a.decision
	c.requests++
	c.bytes += e.bytes
	c.statuses[statusClass(e.status)]++
	c.claims[d.Claim.State]++
	c.from.add(address)
	if e.timed {
		c.seen(e.at)
	}
	if d.Group != nil && src != nil {
		c.groups[groupOf{src, d.Group}]++
	}
	if enforce.IsRobotsTxt(e.target) {
		c.robots++
		if e.timed {
			c.read(e.time(), h.name, e.status)
		}
	}
}

// verdicts are those about a request, and what is needed to count them.
type verdicts struct {
	at      int64
	order   int64
	timed   bool
	fine    bool  // the times are fine enough for each delay
	coarse  int64 // the resolution of the times
	site    *site
	request enforce.Request
	now     enforce.Decision
	was     *enforce.Decision // nil where nothing is compared
	crawler *crawlerTally     // nil for a person
	host    *hostTally
	source  *source
	input   *input
	number  int64
	status  int
	agent   string
}

// clone makes v hold after the line is gone.
func (v *verdicts) clone() {
	v.request.Target = strings.Clone(v.request.Target[:min(len(v.request.Target), 4*maxShown)])
	v.request.Method = strings.Clone(v.request.Method)
	v.request.Client = strings.Clone(v.request.Client)
	v.agent = shortened(v.agent)
	v.request.UserAgents = nil
	if v.was != nil {
		was := *v.was
		v.was = &was
	}
}

// pace holds a request to the pace that its crawler may have.
func (a *auditor) pace(v *verdicts) {
	if v.now.Paced() && v.source != nil && v.crawler != nil {
		p := v.crawler.paceOf(v, a)
		key := v.site.replay.Budget(&v.request, &v.now)
		p.add(key, v.at)
		before := v.now
		v.site.replay.Pace(&v.request, &v.now)
		if v.now.Action != enforce.Pass && !p.judged && v.now.Reason != enforce.VisitTime {
			v.now = before
		}
		if v.now.Action != enforce.Pass {
			p.throttled++
		}
		for _, line := range paceLines(v.now.Group) {
			v.source.count(ruleKey{line: line}, v.crawler, v.now.Action == enforce.Throttle && line == v.source.paceLine(&v.now))
		}
	}
	if v.was != nil && v.was.Paced() {
		before := *v.was
		v.site.before.Pace(&v.request, v.was)
		if v.was.Action != enforce.Pass && v.was.Reason != enforce.VisitTime && !a.finePace(v, &before) {
			*v.was = before
		}
	}
	a.settle(v)
}

// paceOf returns the tally of what limits the crawler's pace.
func (t *crawlerTally) paceOf(v *verdicts, a *auditor) *paceTally {
	key := groupOf{v.source, v.now.Group}
	p := t.paces[key]
	if p == nil {
		p = newPaceTally(v.source, &v.now, v.site.longest, func(d time.Duration) bool { return a.judges(v, d) })
		if t.paces == nil {
			t.paces = make(map[groupOf]*paceTally)
		}
		t.paces[key] = p
	}
	return p
}

// judges reports whether the times of a request are fine enough for a verdict
// on a delay.
func (a *auditor) judges(v *verdicts, delay time.Duration) bool {
	return v.fine || delay >= max(leastDelay, time.Duration(2*v.coarse))
}

// finePace reports whether the times are fine enough for what a decision's group
// grants.
func (a *auditor) finePace(v *verdicts, d *enforce.Decision) bool {
	return newPaceTally(nil, d, v.site.longest, func(delay time.Duration) bool { return a.judges(v, delay) }).judged
}

// longestDelay is the longest delay that is enforced under rules.
func longestDelay(r *enforce.Rules) time.Duration {
	if r.MaxDelay > 0 {
		return r.MaxDelay
	}
	return throttle.DefaultMaxDelay
}

// IsNoLog reports whether an error of Run tells that a file is no access log
// that can be judged: of no format that is known, or without User-Agents.
func IsNoLog(err error) bool { return errors.Is(err, errFormat) || errors.Is(err, errNoAgents) }
