// Package audit reads access logs. It reports what crawlers did, and what an
// enforced robots.txt would have done with each request.
//
// Run detects the format of each log, judges each request and returns a Report. To
// judge a request is to find out whether the robots.txt that was in force at the time
// in the log would have let it pass, denied it or throttled it. The engine that
// decides on live requests does this.
//
// The package can read Caddy's access logs, but it does not depend on Caddy. It
// writes no files. It uses the network only for Options.Verify, with the Checker in
// Site.Settings.Verification.
//
// The use of memory is bounded, whatever the size of the log. Some figures are
// therefore estimates: Report.Estimates names them. In a test, the heap for a log in
// which each line has a new client, host and User-Agent is about 60 MB.
package audit

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"net/netip"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/browser"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// Options configure an audit.
type Options struct {
	Files []logfile.File // the logs, in any order
	// Zone is the time zone of times that have none in the log. nil means UTC, and
	// the report then has a warning.
	Zone *time.Location
	// Sites are the sites whose requests are in the log. Without any, requests are
	// not judged.
	Sites []Site
	// Hosts are the hosts whose requests count. None: all. Only says that those of the first of
	// Sites alone count. Other requests are left out, as if
	// they were not in the logs.
	Hosts []string
	Only  bool
	// Decided is true to count what Caddy decided, by its log, for Report.Decided.
	Decided bool
	// Against is true to compare the verdicts with those of Site.Was, for Report.Against.
	Against bool
	// Verify looks up the addresses of crawlers that the Verification of the sites'
	// rules has not checked yet, with published lists and DNS. It stops after 5
	// minutes or 10,000 addresses. The logs must not be such as can be read only once.
	Verify bool
	// IsProxy reports whether an address is that of a proxy, which can be trusted to say for whom it sends
	// requests: the last address of X-Forwarded-For that is no proxy's is then the client's. nil: none is.
	IsProxy func(netip.Addr) bool
	// Full shows client addresses and the values of queries, which are masked
	// otherwise.
	Full bool
	// Warnings are put before the warnings of the report.
	Warnings []Warning
	// Now returns the current time, for the warning verify_old; nil means time.Now.
	Now func() time.Time
}

// checkedEvery is the number of lines after which a reading checks whether it was ended.
const checkedEvery = 1 << 14

// auditor is a running audit: the sites, the logs, and what counts their requests.
type auditor struct {
	options Options
	mask    mask.Masker
	sites   []*site
	logs    *logfile.Sequence
	filter  filter
	result  Report

	inputs      *inputs
	hosts       *hosts
	rows        rows
	crawlers    crawlers
	userAgents  userAgents // of people
	strangers   *strangers
	reliability reliability
	paths       *cost.Tree // of robots
	pacer       pacer
	decided     *Decided // nil without Options.Decided
	claims      *claims  // nil without Options.Verify

	clock   int64  // the latest time so far, in nanoseconds since 1970
	current Judged // memory for the current line
}

// Run reads the logs and returns the report. It returns an error if ctx ends, if a
// log cannot be opened, or if a file is not a log that can be judged
// (logfile.ErrFormat or ErrNoUserAgents), or has no request for Options.Hosts
// (ErrHosts). A log that ends too early or is
// damaged is not an error: the report has a warning.
func Run(ctx context.Context, o Options) (*Report, error) {
	a, err := newAuditor(ctx, o)
	if err != nil {
		return nil, err
	}
	defer a.logs.Close()
	err = a.eachRequest(ctx, func(v *Judged) {
		a.reliability.count(v.Entry)
		v.decide(v.host.site.lines)
		a.count(v)
	})
	if err != nil {
		return nil, err
	}
	a.pacer.release(math.MaxInt64)
	if err := a.inputs.check(); err != nil {
		return nil, err
	}
	return a.report()
}

// newAuditor returns an auditor that has opened the logs. The caller must close them. With
// Options.Verify, it has looked up the addresses of crawlers.
func newAuditor(ctx context.Context, o Options) (a *auditor, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	a = &auditor{options: o, mask: mask.Masker{Full: o.Full}, strangers: newStrangers(),
		rows:       make(rows),
		userAgents: make(userAgents), paths: cost.New()}
	a.pacer.settle = a.settle
	if a.sites, err = newSites(o.Sites, o.Against); err != nil {
		return nil, err
	}
	a.filter = newFilter(&o, a.sites)
	if o.Decided {
		a.decided = new(Decided)
	}
	a.hosts = newHosts(a.sites)
	if o.Verify {
		a.claims = &claims{origins: make(map[claimant]claimOrigin)}
		if err := a.claims.learn(ctx, o); err != nil {
			return nil, err
		}
	}
	if a.logs, err = logfile.NewSequence(o.Files, o.Zone); err != nil {
		return nil, err
	}
	a.inputs = &inputs{logs: a.logs.Logs, each: make([]Input, len(a.logs.Logs)), full: o.Full, filter: a.filter, problems: make(counter), examples: []UnreadableExample{}}
	return a, nil
}

// eachRequest counts the lines of the logs, and calls count for each that is a request of
// a client, until ctx ends. A request without a time gets the latest time before it.
func (a *auditor) eachRequest(ctx context.Context, count func(*Judged)) error {
	lines := int64(0)
	for l, err := range a.logs.Lines() {
		if err != nil {
			return err
		}
		if lines++; lines%checkedEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if !a.inputs.count(l) {
			continue
		}
		if !l.Entry.Timed {
			l.Entry.At = a.clock
		}
		a.clock = max(a.clock, l.Entry.At)
		a.setClient(&l.Entry)
		a.current.setEntry(l, a.hosts.of(l.Entry.Host))
		count(&a.current)
	}
	return nil
}

// setClient sets the client of a request that came through a proxy.
func (a *auditor) setClient(e *logformat.Entry) {
	if a.options.IsProxy == nil || e.Forwarded == "" {
		return
	}
	addr, err := netip.ParseAddr(e.Client)
	if err != nil || !a.options.IsProxy(addr) {
		return
	}
	e.Client = cmp.Or(e.ForwardedClient(a.options.IsProxy), e.Client)
}

// isRead reports whether a request got the robots.txt that was in force.
func isRead(e *logformat.Entry) bool {
	return (e.Status == http.StatusOK || e.Status == http.StatusNotModified) && e.Method == http.MethodGet && judge.IsRobotsTxt(e.Target)
}

// count counts a request, whose verdict may still change by a limit of the pace.
func (a *auditor) count(v *Judged) {
	a.result.Costs.All.Add(v.Sum)
	v.host.Requests++
	if source := v.now().source; source != nil {
		source.Requests++
		a.result.WouldHave.Judged++
	}
	isRobot := v.now().Agent.Class != crawler.Person
	if isRobot {
		a.result.Costs.Robots.Add(v.Sum)
	}
	switch {
	case a.decided != nil:
		a.countDecided(v)
		return
	case isRobot:
		a.countRobot(v)
	}
	a.pacer.add(v, a.clock)
}

// countRobot counts a request of a robot.
func (a *auditor) countRobot(v *Judged) {
	v.host.Robots++
	v.host.Octets += v.Octets
	v.crawler = a.crawlers.count(v)
	target := v.Target
	if v.secret && !a.mask.Full {
		target = mask.Hidden
	}
	a.paths.Add(v.crawler.Name, target, v.Sum)
}

// countPerson counts a request of a person.
func (a *auditor) countPerson(v *Judged) {
	hash := AgentHash(v.Entry.UserAgent())
	agent := a.userAgents.of(v.Entry.UserAgent(), hash)
	if !agent.isBrowser {
		return
	}
	kind := v.Kind()
	reads := a.strangers.count(v, hash, kind)
	if agent.isExact {
		a.strangers.countAgent(v.host, hash, kind, reads)
	}
}

// AgentHash returns the hash of a User-Agent in Page.Agent.
func AgentHash(agent string) uint64 {
	return xxhash.Sum64String(agent[:min(len(agent), cost.MaxAgent)])
}

// settle counts the verdict on a request, which is final.
func (a *auditor) settle(v *Judged) {
	if v.crawler == nil {
		a.countPerson(v)
		if len(v.Rulings) < 2 || v.Rulings[1].Agent.Class == crawler.Person {
			return
		}
	} else {
		if t := v.crawler; v.now().source != nil && v.now().Action != judge.Pass && len(t.Refused) < maxRefused {
			d := verdict.Of(&v.now().Decision)
			t.Refused = append(t.Refused, v.shown(a.mask, &d))
		}
	}
	key := v.rowKey()
	if v.crawler == nil && !key.compared {
		return
	}
	row := a.rows.count(key, a.rest, v)
	if key.compared && row.Was == nil {
		a.setWas(row, v)
	}
}

// Replay reads the logs again, and calls each for the requests to the site with an
// index in o.Sites, nearly in the order of their times. versions are at most 64 versions of this
// site that decide about each request, with the first robots.txt of each from the
// beginning of the log on. It calls page for those pages that browsers' User-Agents request, a
// while later. The logs must not be such as can be read only once.
func Replay(ctx context.Context, o Options, index int, versions []Site, each func(*Judged), page func(*Page)) error {
	o.Against, o.Verify = false, false // the checkers of Run have the results
	a, err := newAuditor(ctx, o)
	if err != nil {
		return err
	}
	defer a.logs.Close()
	lines := make([]*timeline, len(versions))
	for i := range versions {
		lines[i], err = newTimeline(&versions[i], versions[i].Robots)
		if err != nil {
			return err
		}
	}
	a.strangers.settle = page
	a.pacer.settle = func(v *Judged) {
		each(v)
		if v.now().Agent.Class == crawler.Person && browser.IsBrowser(v.Entry.UserAgent()) {
			a.strangers.count(v, AgentHash(v.Entry.UserAgent()), v.Kind())
		}
	}
	err = a.eachRequest(ctx, func(v *Judged) {
		if v.host.site == a.sites[index] {
			v.decide(lines)
			a.pacer.add(v, a.clock)
		}
	})
	a.pacer.release(math.MaxInt64)
	a.strangers.release(math.MaxInt64)
	return err
}
