package audit

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/browser"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
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
	// Hosts are the hosts whose requests count; none: all hosts. All other requests are
	// left out, as if they were not in the logs.
	Hosts []string
	// Against is true to compare the verdicts with those of Site.Was, for Report.Against.
	Against bool
	// Verify looks up the addresses of crawlers that the Verification of the sites'
	// rules has not checked yet, with published lists and DNS. It stops after 5
	// minutes or 10,000 addresses. The logs must not be such as can be read only once.
	Verify bool
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
	only    hostFilter

	inputs      *inputs
	hosts       *hosts
	crawlers    crawlers
	people      people
	strangers   *strangers
	reliability reliability
	outcomes    outcomes
	costs       costs
	pacer       pacer
	against     *against // nil without Options.Against
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
	if err := a.read(ctx); err != nil {
		return nil, err
	}
	return a.report(), nil
}

// newAuditor returns an auditor that has opened the logs. The caller must close them. With
// Options.Verify, it has looked up the addresses of crawlers.
func newAuditor(ctx context.Context, o Options) (a *auditor, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	a = &auditor{options: o, mask: mask.Masker{Full: o.Full}, only: newHostFilter(o.Hosts), strangers: newStrangers(),
		costs: costs{paths: cost.New()}}
	a.pacer.settle = a.settle
	if a.sites, err = newSites(o.Sites); err != nil {
		return nil, err
	}
	if o.Against {
		a.against = &against{mask: a.mask, differences: make(map[differenceKey]int), report: Against{Sources: []Source{}, Differences: []Difference{}}}
	}
	a.hosts = newHosts(a.sites, o.Against)
	if o.Verify {
		a.claims = &claims{origins: make(map[claimant]claimOrigin)}
		if err := a.learnClaims(ctx); err != nil {
			return nil, err
		}
	}
	if a.logs, err = logfile.NewSequence(o.Files, o.Zone); err != nil {
		return nil, err
	}
	logs := a.logs.Logs
	a.inputs = &inputs{logs: logs, each: make([]inputTally, len(logs)), mask: a.mask, only: a.only, examples: []UnreadableExample{}}
	return a, nil
}

// read reads and counts all lines.
func (a *auditor) read(ctx context.Context) error {
	err := a.eachRequest(ctx, func(e *logformat.Entry, v *Judged) {
		a.reliability.count(e)
		v.decide(v.host.lines)
		a.countRequest(e, v)
	})
	if err != nil {
		return err
	}
	a.pacer.release(math.MaxInt64)
	return a.inputs.check()
}

// eachLine calls count for each line of logs, until ctx ends.
func eachLine(ctx context.Context, logs *logfile.Sequence, count func(*logfile.Log)) error {
	lines := int64(0)
	for l, err := range logs.Lines() {
		if err != nil {
			return err
		}
		if lines++; lines%checkedEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		count(l)
	}
	return nil
}

// eachRequest counts the lines of the logs, and calls count for each that is a request of
// a client. A request without a time gets the latest time before it.
func (a *auditor) eachRequest(ctx context.Context, count func(*logformat.Entry, *Judged)) error {
	return eachLine(ctx, a.logs, func(l *logfile.Log) {
		if !a.inputs.count(l) {
			return
		}
		if !l.Entry.Timed {
			l.Entry.At = a.clock
		}
		a.clock = max(a.clock, l.Entry.At)
		a.current.setEntry(l, a.hosts.of(l.Entry.Host))
		count(&l.Entry, &a.current)
	})
}

// isRead reports whether a request got the robots.txt that was in force.
func isRead(e *logformat.Entry) bool {
	return (e.Status == http.StatusOK || e.Status == http.StatusNotModified) && e.Method == http.MethodGet && judge.IsRobotsTxt(e.Target)
}

// countRequest counts a request, whose verdict may still change by a limit of the pace.
func (a *auditor) countRequest(e *logformat.Entry, v *Judged) {
	isPerson := v.now().Agent.Class == crawler.Person
	a.costs.All.Add(v.Sum)
	a.outcomes.countRequest(v)
	v.host.Requests++
	if isPerson {
		a.countBrowser(e, v)
		if len(v.Rulings) < 2 || v.Rulings[1].Agent.Class == crawler.Person {
			return
		}
	} else {
		v.host.Robots++
		v.host.Octets += e.Bytes
		v.crawler = a.crawlers.count(e, v)
		a.costs.countRobot(v, a.mask)
	}
	a.pacer.add(v, a.clock)
}

// countBrowser counts a request of a person.
func (a *auditor) countBrowser(e *logformat.Entry, v *Judged) {
	a.people.count(v.agent)
	exact := browser.SendsFetchFields(v.agent)
	if !exact && !browser.IsBrowser(v.agent) {
		return
	}
	kind := kindOf(e)
	reads := a.strangers.count(e, v, kind, a.clock)
	if exact {
		a.strangers.countAgent(v, kind, reads)
	}
}

// settle counts the verdict on a request, which is final.
func (a *auditor) settle(v *Judged) {
	if now := v.now(); now.Known() && v.crawler != nil {
		now.source.countRuling(now, v)
		if now.Action != judge.Pass {
			a.outcomes.countRefused(v)
			v.host.Refused++
			v.crawler.countRefused(v, a.mask)
		}
	}
	if v.isComparable() {
		a.against.count(v)
	}
}

// allSources returns the sources of all sites.
func (a *auditor) allSources() []*source {
	var list []*source
	for _, s := range a.sites {
		list = append(list, s.now.sources...)
	}
	return list
}
