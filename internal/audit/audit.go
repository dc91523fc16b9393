package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// Options configure an audit.
type Options struct {
	Files []File // the logs, in any order
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
	seq     *sequence

	hosts         *hosts
	crawlers      *crawlers
	people        *people
	referrals     *referrals
	activity      activity
	addresses     distinct
	warningCounts warningCounts
	against       *against
	claims        *claims
	suspectReplay *suspectReplay // nil if no site looks for suspects

	input    *input // the log of the current line
	clock    int64  // the latest time so far, in nanoseconds since 1970
	order    int64  // the number of requests that were put into pending
	pending  pending
	request  enforce.Request // this and the next three are memory for the current line
	decision enforce.Decision
	was      enforce.Decision
	current  judgedRequest
	untimed  activityStep // requests without a time

	lines, unreadable, other, requests, persons, octets int64
	ownFetches                                          int64 // of other
	first, last                                         int64
	timed                                               bool
	judged, denied, throttled, browsers                 int64
	search, searchVerified                              int64
	reasons, purposes                                   *counter
	problems                                            [problems]int64
	examples                                            []UnreadableExample
}

// Run reads the logs and returns the report. It returns an error if ctx ends, if a
// log cannot be opened, or if a file is not a log that can be judged (see IsNoLog). A
// log that ends too early or is damaged is not an error: the report has a warning.
func Run(ctx context.Context, o Options) (*Report, error) {
	a, err := newAuditor(ctx, o)
	if err != nil {
		return nil, err
	}
	if a.seq, err = newSequence(o.Files, o.Format, timeParser{o.Zone}); err != nil {
		return nil, err
	}
	defer a.seq.close()
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
		options: o, mask: masker{o.Full}, crawlers: newCrawlers(), people: newPeople(), referrals: newReferrals(),
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

// read reads and counts all lines.
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
		a.countUnreadable(in)
		return nil
	}
	e := &in.head
	if isOwnFetch(e) {
		a.other++
		a.ownFetches++
		return nil
	}
	if in.report.Requests++; in.report.Requests == 1 {
		in.report.Format = in.formats.main.name()
	}
	a.requests++
	if len(e.agents) > 0 && e.agents[0] != "" {
		in.nonEmpty++
	}
	if len(e.agents) > 0 {
		in.fields++
	} else if in.report.Requests == agentless && in.fields == 0 {
		return fmt.Errorf("%s %w", in.file.Name, errNoAgents)
	}
	a.input = in
	a.noteTime(in, e)
	a.judge(ctx, e)
	return nil
}

// agentless: an audit fails after this number of requests if the log does not have
// the User-Agent of any of them.
const agentless = 1000

// enoughRequests: a log with at least this number of requests is an error if the
// User-Agent of all of them is empty.
const enoughRequests = 100

// checkAgents returns an error for a log without User-Agents, and for a file that is
// not a log.
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
	if a.requests == 0 && a.ownFetches == 0 && a.unreadable > 0 {
		return fmt.Errorf("%s %w", a.seq.all[0].file.Name, errFormat)
	}
	return nil
}

// maxUnreadable is the number of unreadable lines in the report.
const maxUnreadable = 10

// countUnreadable counts a line that could not be read.
func (a *auditor) countUnreadable(in *input) {
	a.unreadable++
	in.report.Unreadable++
	a.problems[in.problem]++
	if len(a.examples) < maxUnreadable {
		a.examples = append(a.examples, UnreadableExample{
			Input: in.file.Name, LineNo: in.number, Reason: in.problem.String(), Text: a.mask.line(in.line),
		})
	}
}

// noteTime records the time of a request.
func (a *auditor) noteTime(in *input, e *entry) {
	if !e.timed {
		a.warningCounts.untimed++
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
	a.warningCounts.time(a.clock, e.at)
	a.clock = max(a.clock, e.at)
}

// IsNoLog reports whether err, from Run or Hosts, means that a file is not an access
// log that can be judged: its format is not known, or it has no User-Agents.
func IsNoLog(err error) bool { return errors.Is(err, errFormat) || errors.Is(err, errNoAgents) }
