package evidence

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Evidence is what the logs have of one crawler: when it read robots.txt, and the requests
// afterwards that this file disallowed. It has whole addresses. Lists are never nil.
type Evidence struct {
	Summary  string `json:"summary"` // how many of its addresses are confirmed
	Purpose  string `json:"purpose"` // of this document
	Written  string `json:"written"`
	DeleteBy string `json:"delete_by"` // a day
	Clock    string `json:"clock"`     // state of the clock of the machine that wrote this
	Name     string `json:"crawler"`
	Operator string `json:"operator"` // by the registry; "" if it is not known
	Class    string `json:"class"`

	Hosts     []string     `json:"hosts"` // that were asked for; none: all
	Period    audit.Period `json:"period"`
	Addresses []*Address   `json:"addresses"`   // at most 2,000, and 1,000 that are not confirmed
	Agents    []string     `json:"user_agents"` // at most 20
	RobotsTxt []RobotsTxt  `json:"robots_txt"`  // the versions that it read, or that disallowed its requests, at most 100
	Reads     []Request    `json:"reads"`       // of robots.txt, at most 1,000
	// Requests are those that the file disallowed, after it had been read: at most 10,000.
	Requests   []Request     `json:"requests"`
	Disallowed int64         `json:"disallowed"` // all of them
	Hours      []Hour        `json:"hours"`      // that have some, at most 10,000
	Logs       []audit.Input `json:"logs"`
	CanNotShow []string      `json:"can_not_show"`
}

// Address is an address of the crawler.
type Address struct {
	Address string `json:"address"`
	// State is verified: it is the crawler's; impostor: it is not; unverified: nothing
	// confirmed it; or none: nobody asked.
	State      string `json:"verified"`
	Requests   int64  `json:"requests"`
	Disallowed int64  `json:"disallowed"` // requests, after it had read robots.txt
	First      string `json:"first"`
	Last       string `json:"last"`
}

// RobotsTxt is a version of the file.
type RobotsTxt struct {
	Version string `json:"version"` // as in Caddy's log
	SHA256  string `json:"sha256"`  // of Text; "" without
	Name    string `json:"name"`    // of the file that has it; "" if its text is not known
	Text    string `json:"text"`
}

// Hour counts the requests of an hour that were disallowed.
type Hour struct {
	Hour     string `json:"hour"` // its beginning
	Requests int64  `json:"requests"`
}

// keepFor is how long the document may be kept.
const keepFor = 90 * 24 * time.Hour

// Collect reads the logs and returns what they have of a crawler. now is the time of writing.
func Collect(ctx context.Context, q *Query, name string, now time.Time) (*Evidence, error) {
	c := newCollector(q, name)
	q.Files = slices.Clone(q.Files)
	for i := range q.Files {
		q.Files[i].Hashed = true
	}
	r, err := audit.Each(ctx, q.Options, c.count)
	switch {
	case err != nil:
		return nil, err
	case len(c.Addresses) == 0 && c.refusal != nil:
		return nil, c.refusal
	case len(c.Addresses) == 0:
		return nil, fmt.Errorf("the logs have no request of %s", name)
	case !c.judged:
		return nil, errors.New("the log has no decisions of Caddy: give the robots.txt of that time with --robots")
	}
	c.finish(r, now.UTC())
	return &c.Evidence, nil
}

// finish adds what is known when all logs were read.
func (c *collector) finish(r *audit.Report, now time.Time) {
	confirmed, byConfirmed := 0, int64(0)
	for _, a := range c.Addresses {
		if a.State == verified {
			confirmed++
			byConfirmed += a.Disallowed
		}
	}
	c.Summary = fmt.Sprintf("Confirmed as %s's: %s of the %s that sent this name. "+
		"After robots.txt had been read, they sent %s that it disallowed, the confirmed ones %s.",
		c.Name, words.Count(int64(confirmed)), words.Plural(int64(len(c.Addresses)), "address", "addresses"),
		words.Plural(c.Disallowed, "request", "requests"), words.Count(byConfirmed))
	c.Purpose = fmt.Sprintf("It is for the operator of %s and for the abuse desk of its network: to find out who sends these requests, "+
		"and to end them. It has addresses, which may be personal data: use it for nothing else.", c.Name)
	c.Written, c.DeleteBy, c.Clock = now.Format(Millis), now.Add(keepFor).Format(time.DateOnly), Clock()
	c.Evidence.Hosts, c.Period, c.Logs = append([]string{}, c.Options.Hosts...), r.Period, r.Inputs
	for _, h := range slices.Sorted(maps.Keys(c.hours)) {
		c.Hours = append(c.Hours, Hour{time.Unix(h*3600, 0).UTC().Format(Millis), c.hours[h]})
	}
	for _, tag := range slices.Sorted(maps.Keys(c.versions)) {
		v := RobotsTxt{Version: tag, Text: c.Texts[tag], Name: c.TextsFrom}
		if i := slices.IndexFunc(r.Sources, func(s audit.Source) bool { return s.Tag == tag }); i >= 0 {
			v.Text, v.Name = r.Sources[i].Text, r.Sources[i].Name
		}
		if v.Text != "" {
			v.SHA256 = fmt.Sprintf("%x", sha256.Sum256([]byte(v.Text)))
		} else {
			v.Name = ""
			c.left[unknownText]++
		}
		c.RobotsTxt = append(c.RobotsTxt, v)
	}
	c.CanNotShow = []string{
		"Who sent a request: only its address and the name that it gave.",
		"That the logs are complete and unchanged: their hashes say only which files were read.",
		"Whether the clock of the server that wrote the logs was right.",
	}
	if n := len(c.Addresses) - confirmed; n > 0 {
		c.left[unconfirmed] = int64(n)
	}
	for _, what := range slices.Sorted(maps.Keys(c.left)) {
		c.CanNotShow = append(c.CanNotShow, fmt.Sprintf("%s: %s.", what, words.Count(c.left[what])))
	}
	for _, log := range c.Logs {
		if log.Resolution >= 1 {
			c.CanNotShow = append(c.CanNotShow, fmt.Sprintf("Milliseconds in %s: its times are exact to %gs.", log.Name, log.Resolution))
		}
	}
	c.CanNotShow = append(c.CanNotShow, notes(r)...)
}
