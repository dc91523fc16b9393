package audit

import (
	"context"
	"errors"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

// Options configure an audit.
type Options struct {
	Files []logfile.File // the logs, in any order
	// Format describes the lines in the notation of nginx's log_format. "" means
	// that the format is detected.
	Format string
	// Zone is the time zone of times that have none in the log. nil means UTC, and
	// the report then has a warning.
	Zone *time.Location
	// Sites are the sites whose requests are in the log. Without any, requests are
	// not judged.
	Sites []Site
	// Compare also judges the requests by Site.Was, for Report.Against.
	Compare bool
	// Verify looks up the addresses of crawlers that the Verification of the sites'
	// rules has not checked yet, with published lists and DNS. It stops after 5
	// minutes or 10,000 addresses.
	Verify bool
	// Full shows client addresses and the values of queries, which are masked
	// otherwise.
	Full bool
	// Warnings are put before the warnings of the report.
	Warnings []Warning
	// Now returns the current time, for the warning verify_old; nil means time.Now.
	Now func() time.Time
	// Run calls Progress every 16,384 lines, in the goroutine that called Run.
	// Progress may be nil.
	Progress func(Progress)
}

// Progress says how much of the logs has been read.
type Progress struct {
	Lines int64
	Read  int64 // octets of the files, before decompression
}

// progressEvery is the number of lines between two calls of Options.Progress.
const progressEvery = 1 << 14

// auditor is a running audit.
type auditor struct {
	options Options
	mask    masker
	sites   []*site
	logs    *logfile.Sequence

	inputs        *inputs
	hosts         *hosts
	crawlers      *crawlers
	people        *people
	activity      activity
	addresses     distinct
	warningCounts warningCounts
	against       *against
	claims        *claims
	suspectReplay *suspectReplay // nil if no site looks for suspects

	log      *logfile.Log // the log of the current line
	clock    int64        // the latest time so far, in nanoseconds since 1970
	order    int64        // the number of requests that were put into pending
	pending  pending
	request  enforce.Request // this and the next three are memory for the current line
	decision enforce.Decision
	was      enforce.Decision
	current  judgedRequest
	untimed  activityStep // requests without a time

	persons, octets                     int64
	judged, denied, throttled, browsers int64
	search, searchVerified              int64
	reasons, purposes                   *counter
}

// Run reads the logs and returns the report. It returns an error if ctx ends, if a
// log cannot be opened, or if a file is not a log that can be judged (see IsNoLog). A
// log that ends too early or is damaged is not an error: the report has a warning.
func Run(ctx context.Context, o Options) (*Report, error) {
	a, err := newAuditor(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := a.open(); err != nil {
		return nil, err
	}
	defer a.logs.Close()
	if err := a.read(ctx); err != nil {
		return nil, err
	}
	return a.report(), nil
}

// newAuditor returns an auditor that is ready to read the logs. With Options.Verify,
// it has looked up the addresses of crawlers.
func newAuditor(ctx context.Context, o Options) (*auditor, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &auditor{
		options: o, mask: masker{o.Full}, crawlers: newCrawlers(), people: newPeople(),
		addresses: distinct{precision: 14}, reasons: newCounter(enforce.Reasons), purposes: newCounter(maxNames),
	}
	if err := a.addSites(); err != nil {
		return nil, err
	}
	a.crawlers.merge = a.mergeRules
	a.hosts = newHosts(a.sites)
	a.suspectReplay = newSuspectReplay(a.sites)
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

// open opens the logs.
func (a *auditor) open() (err error) {
	if a.logs, err = logfile.NewSequence(a.options.Files, a.options.Format, a.options.Zone); err != nil {
		return err
	}
	a.inputs = newInputs(a.logs.Logs, a.mask)
	return nil
}

// read reads and counts all lines.
func (a *auditor) read(ctx context.Context) error {
	var l *logfile.Log
	for lines := int64(1); ; lines++ {
		var err error
		if l, err = a.logs.Next(l); err != nil {
			return err
		}
		if l == nil {
			break
		}
		if lines%progressEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if a.options.Progress != nil {
				a.options.Progress(Progress{lines, a.logs.Octets()})
			}
		}
		if err := a.count(ctx, l); err != nil {
			return err
		}
	}
	for len(a.pending) > 0 {
		a.release(1<<63 - 1)
	}
	return a.inputs.check()
}

// count counts one line.
func (a *auditor) count(ctx context.Context, l *logfile.Log) error {
	isRequest, err := a.inputs.count(l)
	if !isRequest || err != nil {
		return err
	}
	e := &l.Entry
	a.log = l
	a.noteTime(e)
	a.judge(ctx, e)
	return nil
}

// noteTime records the time of a request.
func (a *auditor) noteTime(e *logformat.Entry) {
	if !e.Timed {
		a.warningCounts.untimed++
		e.At = a.clock
		return
	}
	if a.clock == 0 {
		a.clock = e.At
	}
	a.warningCounts.time(a.clock, e.At)
	a.clock = max(a.clock, e.At)
}

// IsNoLog reports whether err, from Run or Hosts, means that a file is not an access
// log that can be judged: its format is not known, or it has no User-Agents.
func IsNoLog(err error) bool {
	return errors.Is(err, logfile.ErrFormat) || errors.Is(err, logfile.ErrNoUserAgents)
}
