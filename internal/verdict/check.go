package verdict

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/editdistance"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// MaxExemptFrom is the maximum length of Check.ExemptFrom.
const MaxExemptFrom = 100

// Check is the decision about a request that somebody asks about, as if it were the
// first one of its crawler, and what else holds this crawler.
type Check struct {
	Decision
	GroupLine int      `json:"group_line"` // at which the group begins; 0 without a group
	Reading   string   `json:"reading"`    // google if the decision is that of google/robotstxt, which reads the file differently; else ""
	Steps     []string `json:"steps"`      // what steps may still do with the request, such as "held by limit /archive/*: all 30/1m, line 5 of Caddyfile"

	// The limits of the group, if they apply to the crawler. The delays are in seconds.
	CrawlDelay      float64  `json:"crawl_delay"`       // as enforced; 0 if none
	CrawlDelayAsked float64  `json:"crawl_delay_asked"` // as the file has it; 0 unless it is more
	CrawlDelayLine  int      `json:"crawl_delay_line"`
	RequestRates    []string `json:"request_rates"`
	VisitTimes      []string `json:"visit_times"`

	// ExemptFrom has the client addresses for which the crawler is exempt, if the
	// request has no address: at most MaxExemptFrom.
	ExemptFrom []string `json:"exempt_from"`
}

// NewCheck decides on a request by rules, as [judge.Rules.CheckFirst] does. before may be nil. longest is the longest
// Crawl-delay that is enforced. explain says what steps may still do with a request that passes.
func NewCheck(rules, before *judge.Rules, r *judge.Request, longest time.Duration,
	explain func(*judge.Request, *judge.Decision) []string) (*Check, *judge.Decision) {
	d := new(judge.Decision)
	rules.CheckFirst(r, before, d)
	c := &Check{Decision: Of(d), RequestRates: []string{}, VisitTimes: []string{}, ExemptFrom: []string{}, Steps: []string{}}
	_, c.GroupLine = d.Rules.Origin(d.Group.Line())
	if d.Reading != 0 {
		c.Reading = d.Reading.String()
	}
	if d.Action == judge.Pass {
		c.Steps = append(c.Steps, explain(r, d)...)
	}
	if d.Limits != nil {
		c.setPace(d, longest)
	}
	if r.Client == "" && d.Reason != judge.Exempt {
		from := d.Rules.ExemptFrom(&d.Agent)
		c.ExemptFrom = append(c.ExemptFrom, words.Map(from[:min(len(from), MaxExemptFrom)], netip.Prefix.String)...)
	}
	return c, d
}

// UnknownToken returns what is wrong if somebody asks about a product token of which the
// decision knows nothing, "" otherwise: neither the registry, nor robots.txt, nor the
// configuration has it. It may be misspelt, and rules for another crawler would seem to
// allow the URL.
func UnknownToken(rules *judge.Rules, d *judge.Decision, word string) string {
	registry := rules.Matcher().Registry()
	row := registry.Lookup(word)
	if word == "" || robots.ProductToken(word) != word || strings.ContainsAny(word, " *") || d.Agent.Crawler != nil ||
		d.Reason == judge.Exempt ||
		row != nil && (row.ControlOnly || row.Class == crawler.App) || rules.File().Named(word) != nil {
		return ""
	}
	near := ""
	if row != nil { // by its name, or the token of a group that it obeys
		near = strings.Join(row.Tokens(), " or ")
	} else {
		tokens := slices.Clone(rules.File().Tokens())
		for other := range registry.All() {
			if tokens = append(tokens, other.Tokens()...); other.ControlOnly {
				tokens = append(tokens, other.Name)
			}
		}
		near = editdistance.Nearest(word, slices.Values(tokens))
	}
	if near != "" {
		near = "; did you mean " + near + "?"
	}
	return fmt.Sprintf("%s: no crawler in the registry or robots.txt sends this token%s A whole User-Agent, such as %s/1.0, need not be known",
		word, cmp.Or(near, "."), word)
}

// setPace sets the limits of the decision's group.
func (c *Check) setPace(d *judge.Decision, longest time.Duration) {
	if delay, ok := d.Group.CrawlDelay(); ok && delay.Delay > 0 {
		c.CrawlDelay = min(delay.Delay, longest).Seconds()
		_, c.CrawlDelayLine = d.Rules.Origin(delay.Line)
		if delay.Delay > longest {
			c.CrawlDelayAsked = delay.Delay.Seconds()
		}
	}
	c.RequestRates = append(c.RequestRates, words.Map(d.Group.RequestRates(), robots.RequestRate.String)...)
	c.VisitTimes = append(c.VisitTimes, words.Map(d.Group.VisitTimes(), func(v robots.VisitTime) string { return v.Window.String() })...)
}

// Text returns all of c but the action as one line of text, such as "GPTBot (crawler):
// disallowed, group * (line 1), line 2 of robots.txt, Disallow: /private/".
func (c *Check) Text() string {
	var b strings.Builder
	part := func(given bool, format string, args ...any) {
		if given {
			fmt.Fprintf(&b, format, args...)
		}
	}
	switch {
	case c.Reason == judge.Person.String():
		part(true, "person, or another client that no rule applies to")
	case c.Class == crawler.Person.String():
		part(true, "stranger, a browser without a pass: %s", c.Reason)
	default:
		part(true, "%s (%s): %s", cmp.Or(c.Crawler, "a client without a User-Agent"), c.Class, c.Reason)
	}
	part(c.Reason == judge.RulesPending.String(), ", because robots.txt was not fetched yet")
	part(c.Group != "", ", group %s", c.Group)
	part(c.Group != "" && c.GroupLine != 0, " (line %d)", c.GroupLine)
	part(c.Line != 0, ", %s", placeOf(c.Line, c.File))
	part(c.Line != 0 && c.Layer != judge.FileLayer.String() && c.Layer != c.Reason, " (%s)", c.Layer)
	part(c.Rule != "", ", %s", c.Rule)
	part(c.Reading != "", ", as google/robotstxt reads the file")
	part(c.GraceEnds != "", ", by the version before (%s), for at most %g hours", cmp.Or(c.Version, "no robots.txt"),
		judge.GracePeriod.Hours())
	part(c.CrawlDelay != 0, "; one request in %gs", c.CrawlDelay)
	part(c.CrawlDelayAsked != 0, " instead of %gs", c.CrawlDelayAsked)
	part(c.CrawlDelay != 0, " (line %d)", c.CrawlDelayLine)
	for _, rate := range c.RequestRates {
		part(true, "; request-rate %s", rate)
	}
	for _, window := range c.VisitTimes {
		part(true, "; visit-time %s", window)
	}
	for _, text := range c.Steps {
		part(true, "; %s", text)
	}
	part(len(c.ExemptFrom) > 0, "; exempt for requests from %s: add the client's address to check that", words.List(c.ExemptFrom, 3))
	return b.String()
}

// placeOf returns the place of a line.
func placeOf(line int, file string) string {
	return fmt.Sprintf("line %d of %s", line, cmp.Or(file, "the configuration"))
}
