// Package propose is how steps propose lines for a site, from what an audit of its access logs
// found out. The audit replays the log with each of them.
package propose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Proposer is a step that proposes lines.
type Proposer interface {
	step.Step
	// Propose returns what may save costs, best first. The step has the settings of the site, or
	// is the zero value, and is not set up.
	Propose(site *Site) ([]Proposal, error)
}

// Proposal is a line that may save costs.
type Proposal struct {
	Step step.Step // in place of the site's
	Text string    // the line; a block has several
	Why  string    // what it is for, in one sentence without a subject and a final period

	Days     int      // how many of the log it takes
	AtMost   int      // how many lines of this step may be added; 0: any number
	Estimate cost.Sum // of the requests that it is about
	Crawlers []string // that it is about, at most 20
	Held     []string // further names of robots that it holds
	Paths    []string // that it refuses robots, which should have no feeds and no visitors from other sites
	// Asks are the paths where it asks clients whether they are browsers. Of such proposals, at most one is
	// suggested. Otherwise returns a note for the case that none is worth it for all of Asks, by whether
	// it would have asked anybody.
	Asks      []string
	Otherwise func(asked bool) string
	Fleet     cost.Sum // of Estimate, what is Site.Fleet's: it is worth it if it holds much of that
	// Small says that it may be worth it however small a part of the costs it saves.
	Small bool
}

// Site is what the audit found out about a site.
type Site struct {
	Period   time.Duration // of the log
	Whole    cost.Sum      // what all requests cost
	Hosts    []string      // for which alone lines are wanted; none: for all of the site
	File     *robots.File  // nil without one
	Crawlers []Crawler
	Paths    []cost.Row // which robots requested, the most expensive first
	// Flooded is how many requests a minute of each robot would have held the worst flood; 0 without one.
	Flooded int
	// Lone are pages that lone addresses with browsers' User-Agents requested: see Pages. There are
	// none where that is not known.
	Lone []Pages
	// Fleet is a User-Agent that opens pages which others hardly want; nil if none does.
	Fleet *cost.Fleet
	// Targets is a sample of the pages with a query that clients with browsers' User-Agents requested.
	Targets []string
	// IsFew says that it is hardly known whether people's addresses are lone too. The report has
	// said that.
	IsFew bool
	// Count reads the log again, and counts the pages by the first of several patterns that they
	// have, and last those that have none.
	Count func(patterns []string) ([]Pages, error)
	// Notes say why something is not proposed.
	Notes []string
}

// Note adds a note.
func (s *Site) Note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// Pages counts the requests for pages with browsers' User-Agents.
type Pages struct {
	Pattern   string // in robots.txt syntax, or that of a cost.Row
	Pages     int64
	Lone      cost.Sum // those of addresses that requested nothing else
	Addresses int64    // of Lone; 0 if not known
	Targets   int64    // of Lone, each once; 0 if not known
	Fleet     cost.Sum // those of Site.Fleet; 0 if not known
}

// Crawler is a robot with its costs.
type Crawler struct {
	Name, Class string
	Row         *crawler.Crawler // nil for one that no registry has
	cost.Sum
}

// crawls are the classes of robots that crawl.
var crawls = []string{crawler.Registered.String(), crawler.Named.String(), crawler.SelfDeclared.String(), crawler.Scraper.String()}

// Crawls reports whether robots of a class crawl: others may be people's programs.
func Crawls(class string) bool { return slices.Contains(crawls, class) }

// IsPlain reports whether a path has only characters that mean the same in robots.txt
// and in a Caddyfile, besides *. Clients choose the paths of a log.
func IsPlain(path string) bool {
	return strings.Trim(path, "/*abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~:-") == ""
}

// MinShare is the part of all costs from which on a line is worth it.
const MinShare = 0.02
