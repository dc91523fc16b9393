package judge

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"os"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Content is a source's answer, or what is in force instead of it. The same
// settings compile equal contents to equal rules.
type Content struct {
	Body    []byte  // the robots.txt if Outcome is Loaded
	Outcome Outcome // Loaded, Missing, NotRobots, Forbidden, Redirected, Failed or Pending
	Status  int     // the HTTP status code if Outcome is Missing or Forbidden; otherwise 0
	DenyAll bool    // the source fails, and crawlers are denied every path
	Apart   bool    // see Response.Apart
}

// Key returns a hash of the content. It differs from process to process.
func (c *Content) Key() uint64 {
	key := maphash.Bytes(hashSeed, c.Body)*31 + uint64(c.Status)<<8 + uint64(c.Outcome)*4
	if c.DenyAll {
		key += 2
	}
	if c.Apart {
		key++
	}
	return key
}

// rulesKey says which rules are equal, apart from a collision of content.
type rulesKey struct {
	settings *Compiled
	content  uint64
}

var allRules interned[rulesKey, Rules]

// RulesOf compiles a content to rules. All origins with the same settings and file
// share them, so that hosts that clients invent need little memory.
func (s *Compiled) RulesOf(c Content) *Rules {
	if c.Outcome != Loaded {
		c.Body = nil // the file has only the lines of the operator
	}
	rules, _ := allRules.get(rulesKey{s, c.Key()}, func() (*Rules, error) { return s.newRules(c), nil })
	return rules
}

// newRules is RulesOf for rules that are not shared.
func (s *Compiled) newRules(c Content) *Rules {
	if c.Outcome == Loaded || s.Publishes() && !c.Apart {
		return s.compile(c)
	}
	return s.empty(c)
}

// IsGood reports whether it is an answer that says what the rules are.
func (c *Content) IsGood() bool {
	return c.Outcome == Loaded || c.Outcome == Missing
}

// BreaksOff reports whether a file ends within a line, or is empty, as if it is
// being written.
func (c *Content) BreaksOff() bool {
	n := len(c.Body)
	return c.Outcome == Loaded && n <= robots.MaxSize && (n == 0 || c.Body[n-1] != '\n' && c.Body[n-1] != '\r')
}

// Response is a source's answer.
type Response struct {
	Status int    // the HTTP status code after redirects
	Body   []byte // at most robots.MaxSize+1 octets, so that a file that is too large can be recognised
	// Apart reports that another handler answers the clients' requests for
	// /robots.txt. The lines of the operator (Additions) can't be published
	// then, and so they are not enforced.
	Apart bool
	// Elsewhere is the URL to which the answer redirects, if the source does not
	// follow the redirect because another host answers there.
	Elsewhere string
	Loop      bool // Elsewhere is that of the last one of too many redirects
	// Whole reports that no part of the answer can be missing. Other answers that
	// take rules away are fetched again before they count.
	Whole bool

	// File is the file of a file system that was read, and Quiet reports that nobody has
	// written to it lately. File is nil of a source without files.
	File  os.FileInfo
	Quiet bool
}

// ErrNULs is the error of a file that a crash or a power failure has damaged.
var ErrNULs = errors.New("the file has only NUL octets, as after a power failure")

// ErrLoop is in the error of an answer with Loop.
var ErrLoop = errors.New("it redirects more than five times in a row")

// Outcome is the kind of result of reading a source.
type Outcome uint8

const (
	Loaded     Outcome = iota // a robots.txt: its rules are in force
	Unchanged                 // the same file as before: only of a fetch
	Missing                   // 404 or 410: no rules
	NotRobots                 // another text, such as an HTML page: the last good copy for 30 days, then no rules
	Forbidden                 // another 4xx, such as 403: the last good copy for 24 hours, then no rules
	Redirected                // a redirect to another host: the last good copy for 24 hours, then no rules
	Failed                    // 429, 5xx, another status, only NULs or no answer: the last good copy for 30 days, then no rules; with DenyFailed (`on_error deny`), crawlers are denied everything
	Pending                   // nothing was fetched yet: only of the rules in force
)

// String returns the outcome's name in logs and metrics: loaded, unchanged,
// missing, not_robots, forbidden, redirected, failed or pending.
func (o Outcome) String() string {
	return [...]string{"loaded", "unchanged", "missing", "not_robots", "forbidden", "redirected", "failed", "pending"}[o]
}

// Content classifies a source's answer (RFC 9309, section 2.3.1); err is the
// source's. A 429 counts as a failure although it is a 4xx: it means that the back
// end is overloaded, not that the site has no rules. The error says why the outcome is
// not Loaded.
func (resp *Response) Content(err error) (Content, error) {
	c := Content{Outcome: Failed, Apart: resp.Apart}
	switch {
	case err != nil:
		return c, err
	case resp.Loop:
		c.Outcome = Redirected
		return c, fmt.Errorf("%w, the last one to %.200s", ErrLoop, resp.Elsewhere)
	case resp.Elsewhere != "":
		c.Outcome = Redirected
		return c, fmt.Errorf("it redirects to %.200s", resp.Elsewhere)
	case resp.Status >= 200 && resp.Status < 300:
		if len(resp.Body) > 0 && len(bytes.Trim(resp.Body, "\x00")) == 0 {
			return c, ErrNULs
		}
		if err := robots.CheckText(resp.Body); err != nil {
			c.Outcome = NotRobots
			return c, err
		}
		c.Outcome, c.Body = Loaded, resp.Body[:min(len(resp.Body), robots.MaxSize+1)]
		return c, nil
	case resp.Status == http.StatusNotFound || resp.Status == http.StatusGone:
		c.Outcome, c.Status = Missing, resp.Status
	case resp.Status >= 400 && resp.Status < 500 && resp.Status != http.StatusTooManyRequests:
		c.Outcome, c.Status = Forbidden, resp.Status
	}
	return c, fmt.Errorf("status %d", resp.Status)
}

// IsVersion reports whether a crawler can have read the content. It can't if it is
// only in force because the source gave no answer.
func (c *Content) IsVersion() bool {
	switch c.Outcome {
	case Loaded, Missing, NotRobots, Forbidden, Redirected:
		return !c.DenyAll
	}
	return false
}

// Empty reports whether a robots.txt has nothing but blank lines and
// comments. It returns false if there is no robots.txt.
func (c *Content) Empty() bool {
	if c.Outcome != Loaded {
		return false
	}
	for line := range bytes.FieldsFuncSeq(bytes.TrimPrefix(c.Body, []byte("\ufeff")), func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}
