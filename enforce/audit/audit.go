package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
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
	// Suspects is how the site looks for robots among people; nil if it does
	// not.
	Suspects *SuspectRules
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
	suspicion *suspicion // nil where no site looks for suspects

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
	ownFetches                                          int64 // of other
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
	a.suspicion = newSuspicion(a.sites)
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
	if a.requests == 0 && a.ownFetches == 0 && a.unreadable > 0 {
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

// IsNoLog reports whether an error of Run tells that a file is no access log
// that can be judged: of no format that is known, or without User-Agents.
func IsNoLog(err error) bool { return errors.Is(err, errFormat) || errors.Is(err, errNoAgents) }
