package audit

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

// Input describes a file that was read.
type Input struct {
	Name        string
	Format      string // as logformat.Format.Name
	Compression string // gzip, zstd or ""
	Lines       int64
	Requests    int64
	Unreadable  int64
	Period      Period

	fields   int64 // requests for which the log has a User-Agent, even an empty one
	nonEmpty int64 // requests with a User-Agent that is not empty
	coarse   int64 // the coarsest resolution of its times
	zoneless int64 // requests whose time has no zone
}

// UnreadableExample is a line that could not be read as a request.
type UnreadableExample struct {
	Input  string // name of the file
	LineNo int64  // line in that file, from 1
	Reason string
	Text   string // the beginning of the line, with Options.Full
}

// inputs counts the lines of the logs.
type inputs struct {
	logs   []*logfile.Log
	each   []Input // by logfile.Log.Index
	full   bool    // the texts of lines are shown
	filter filter

	unreadable int64
	other      int64
	ownFetches int64 // of other
	leftOut    int64 // of other: requests for hosts that were not asked for
	hostless   int64 // of leftOut: those without a host
	requests   int64
	decided    bool // some line has a decision
	problems   counter
	examples   []UnreadableExample
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
	c.decided = c.decided || l.Problem == logformat.None && len(l.Entry.Robots) > 0
	switch {
	case l.Problem == logformat.NoRequest:
		c.other++
		return false
	case l.Problem != logformat.None:
		c.unreadable++
		t.Unreadable++
		c.problems[string(l.Problem)]++
		if len(c.examples) < maxUnreadable && c.filter.isAll() { // its host is not known
			example := UnreadableExample{Input: l.Name, LineNo: l.Number, Reason: string(l.Problem)}
			if c.full {
				example.Text = mask.Shortened(string(l.Line[:min(len(l.Line), 2*mask.MaxShown)]))
			}
			c.examples = append(c.examples, example)
		}
		return false
	case isOwnFetch(&l.Entry):
		c.other++
		c.ownFetches++
		return false
	case !c.filter.selects(l.Entry.Host):
		c.other++
		c.leftOut++
		addIf(&c.hostless, l.Entry.Host == "", 1)
		return false
	}
	c.requests++
	t.count(l)
	return true
}

// count counts a request.
func (t *Input) count(l *logfile.Log) {
	e := &l.Entry
	if t.Requests++; t.Requests == 1 {
		t.Format = l.Format.Name()
	}
	if len(e.UserAgents) > 0 {
		t.fields++
		addIf(&t.nonEmpty, e.UserAgents[0] != "", 1)
	}
	if e.Timed {
		t.Period.add(e.Time())
		t.coarse = max(t.coarse, e.Resolution)
		addIf(&t.zoneless, !e.Zoned, 1)
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
		why := ""
		if c.hostless == c.leftOut {
			why = ", because it does not name the hosts of requests"
		}
		return fmt.Errorf("%s %w %s%s", c.logs[0].Name, ErrHosts, &c.filter, why)
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
	for i, l := range c.logs {
		t := &c.each[i]
		r.Period.merge(t.Period)
		t.Name, t.Compression, t.Format = l.Name, l.Compression, cmp.Or(t.Format, l.Format.Name())
	}
	r.Inputs = c.each
}

// isOwnFetch reports whether Caddy itself fetched robots.txt: this command, or a
// robots.txt source that is a URL. Other paths count whatever the User-Agent is, so
// that a client cannot hide its traffic with Caddy's User-Agent.
func isOwnFetch(e *logformat.Entry) bool {
	return len(e.UserAgents) == 1 && e.UserAgents[0] == origins.FetcherUserAgent && judge.IsRobotsTxt(e.Target)
}
