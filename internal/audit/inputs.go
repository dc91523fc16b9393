package audit

import (
	"errors"
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

// Input describes a file that was read.
type Input struct {
	Name        string `json:"name"`
	Format      string `json:"format"`      // as logformat.Format.Name
	Compression string `json:"compression"` // gzip, zstd or ""
	Lines       int64  `json:"lines"`
	Requests    int64  `json:"requests"`
	Unreadable  int64  `json:"unreadable"`
	Period      Period `json:"period"`
	// Resolution is the resolution of its times in seconds, such as 1 or 0.001; that
	// of the coarsest time if they differ. It is 0 if it has no times.
	Resolution float64 `json:"resolution"`
	// Zone is true if it has times and all of them have a time zone.
	Zone bool `json:"zone"`
}

// UnreadableExample is a line that could not be read as a request.
type UnreadableExample struct {
	Input  string `json:"input"` // name of the file
	LineNo int64  `json:"line"`  // line in that file, from 1
	Reason string `json:"reason"`
	Text   string `json:"text"` // the beginning of the line, at most 200 octets; addresses and queries are masked unless Options.Full is set
}

// inputs counts the lines of the logs.
type inputs struct {
	logs []*logfile.Log
	each []inputTally // by logfile.Log.Index
	mask mask.Masker
	only hostFilter

	unreadable int64
	other      int64
	ownFetches int64 // of other
	leftOut    int64 // of other: requests for hosts that only does not select
	requests   int64
	problems   counter
	examples   []UnreadableExample
}

// inputTally counts the lines of one log.
type inputTally struct {
	Input
	period   span
	fields   int64 // requests for which the log has a User-Agent, even an empty one
	nonEmpty int64 // requests with a User-Agent that is not empty
	coarse   int64 // the coarsest resolution of its times
	zoneless int64 // requests whose time has no zone
}

// enoughRequests: one of several logs with at least this number of requests is an
// error if the User-Agent of all of them is empty. Such a log cannot be judged.
const enoughRequests = 100

// maxUnreadable is the number of unreadable lines in the report.
const maxUnreadable = 10

// Errors for logs that cannot be judged.
var (
	ErrHosts        = errors.New("has no request for") // none for Options.Hosts
	ErrNoUserAgents = errors.New("has no User-Agents: an audit needs them to find out which crawler sent a request")
)

// count counts the current line of a log, and reports whether it is a request of a
// client.
func (c *inputs) count(l *logfile.Log) (isRequest bool) {
	t := &c.each[l.Index]
	t.Lines++
	switch {
	case l.Problem == logformat.NoRequest:
		c.other++
		return false
	case l.Problem != logformat.None:
		c.unreadable++
		t.Unreadable++
		*c.problems.of(string(l.Problem))++
		if len(c.examples) < maxUnreadable && len(c.only) == 0 { // its host is not known
			c.examples = append(c.examples, UnreadableExample{Input: l.Name, LineNo: l.Number, Reason: string(l.Problem),
				Text: c.mask.Line(l.Line)})
		}
		return false
	case isOwnFetch(&l.Entry):
		c.other++
		c.ownFetches++
		return false
	case !c.only.selects(l.Entry.Host):
		c.other++
		c.leftOut++
		return false
	}
	c.requests++
	t.count(l)
	return true
}

// count counts a request.
func (t *inputTally) count(l *logfile.Log) {
	e := &l.Entry
	if t.Requests++; t.Requests == 1 {
		t.Format = l.Format.Name()
	}
	if len(e.UserAgents) > 0 {
		t.fields++
		countIf(&t.nonEmpty, e.UserAgents[0] != "")
	}
	if e.Timed {
		t.period.add(e.At)
		t.coarse = max(t.coarse, e.Resolution)
		countIf(&t.zoneless, !e.Zoned)
	}
}

// check returns an error for a log without User-Agents, and for a file that is not a
// log.
func (c *inputs) check() error {
	nonEmpty := int64(0)
	for i, l := range c.logs {
		t := &c.each[i]
		nonEmpty += t.nonEmpty
		if t.Requests > 0 && t.fields == 0 || t.Requests >= enoughRequests && t.nonEmpty == 0 {
			return fmt.Errorf("%s %w (its format is %s)", l.Name, ErrNoUserAgents, t.Format)
		}
		if l.Cut != nil && t.Lines == 0 {
			return fmt.Errorf("%s: %w", l.Name, l.Cut)
		}
	}
	if c.requests > 0 && nonEmpty == 0 {
		return fmt.Errorf("%s %w", c.logs[0].Name, ErrNoUserAgents)
	}
	if c.requests == 0 && c.leftOut > 0 {
		return fmt.Errorf("%s %w %s", c.logs[0].Name, ErrHosts, c.only)
	}
	if c.requests == 0 && c.ownFetches == 0 && c.unreadable > 0 {
		return fmt.Errorf("%s %w", c.logs[0].Name, logfile.ErrFormat)
	}
	return nil
}

// report adds the logs to the report.
func (c *inputs) report(r *Report) {
	r.Requests, r.Unreadable, r.Other = c.requests, c.unreadable, c.other
	r.Lines = c.requests + c.unreadable + c.other
	r.UnreadableExamples, r.UnreadableReasons = c.examples, c.problems.top(maxNames)
	var all span
	r.Inputs = make([]Input, 0, len(c.logs))
	for i, l := range c.logs {
		t := &c.each[i]
		all.merge(t.period)
		t.Name, t.Compression, t.Period, t.Resolution = l.Name, l.Compression, t.period.report(), time.Duration(t.coarse).Seconds()
		t.Zone = t.period.known && t.zoneless == 0
		if t.Format == "" {
			t.Format = l.Format.Name()
		}
		r.Inputs = append(r.Inputs, t.Input)
	}
	r.Period = all.report()
}

// isOwnFetch reports whether Caddy itself fetched robots.txt: this command, or a
// robots.txt source that is a URL. Other paths count whatever the User-Agent is, so
// that a client cannot hide its traffic with Caddy's User-Agent.
func isOwnFetch(e *logformat.Entry) bool {
	return len(e.UserAgents) == 1 && e.UserAgents[0] == origins.FetcherUserAgent && judge.IsRobotsTxt(e.Target)
}
