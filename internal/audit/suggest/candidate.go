package suggest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/target"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/snippet"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// The kinds of suggestions, and where their text belongs.
const (
	policy, disallow, limit, crawlDelay, challenge = "policy", "disallow", "limit", "crawl_delay", "challenge"
	robotsTxt, caddyfile                           = "robots_txt", "caddyfile"
)

// candidate is a change that may be suggested.
type candidate struct {
	audit.Suggestion
	estimate cost.Sum // at most what it saves
	targets  uint64   // see tally
	// One of these is the change.
	lines  string // at the end of robots.txt
	policy managed.Policy
	limit  *limits.Limit
	held   map[string]bool // the names of the robots that the limit would have held
}

// The conditions for suggestions.
const (
	minShare     = 0.02 // of the whole costs
	minDays      = 3    // of log
	minAddresses = 20
	sureDays     = 7
	sureFrom     = 100 // addresses
	maxNamed     = 20  // crawlers in one group
	maxTried     = 24  // candidates that the engine judges
	longestDelay = 10  // seconds
	keptPart     = 4   // a limit lets one of so many requests pass
)

// candidates returns the changes for which the log has enough evidence, the most
// promising first, at most maxTried.
func (s *suggester) candidates() (list []*candidate) {
	list = append(s.policies(), s.delays()...)
	for _, u := range s.units {
		list = append(list, s.disallows(u)...)
		list = append(list, s.limits(u)...)
	}
	list = slices.DeleteFunc(list, func(c *candidate) bool {
		return c.estimate.Share(s.whole) < minShare || c.Addresses < minAddresses
	})
	slices.SortStableFunc(list, func(a, b *candidate) int {
		return cmp.Compare(b.estimate.Share(s.whole), a.estimate.Share(s.whole))
	})
	list = slices.CompactFunc(list, func(a, b *candidate) bool { // other patterns for the same requests
		return a.Kind == b.Kind && a.estimate == b.estimate && a.targets == b.targets
	})
	return list[:min(len(list), maxTried)]
}

// purposes are those that a policy is suggested for; the policy no-training denies the
// first one, with ai-data.
var purposes = []crawler.Purpose{crawler.AITraining, crawler.SEO, "data", "intelligence", "research", "plagiarism", "archive", "security"}

// policies returns a policy for each purpose, if the site has none. Its Why names the
// crawlers that cost much, if others of the purpose do not.
func (s *suggester) policies() (list []*candidate) {
	if s.site.Rules.Edit != nil || len(s.Hosts) > 0 {
		return nil
	}
	for _, p := range purposes {
		c, sum := s.candidate(policy, caddyfile, snippet.Deny(string(p))), new(tally)
		if c.policy.Deny = []managed.Deny{{Crawlers: []string{string(p)}}}; p == crawler.AITraining {
			c.Text, c.policy = "policy no-training", managed.Policy{Presets: []managed.Preset{{Name: "no-training"}}}
		}
		var own, much []string
		for _, row := range s.costly(s.crawlers) {
			t := s.crawlers[row]
			switch {
			case !row.CountsAs(p) && (p != crawler.AITraining || !row.CountsAs(crawler.AIData)):
				continue
			case t.names(row):
				own = append(own, row.Name)
				continue
			case t.Share(s.whole) >= minShare:
				much = append(much, snippet.Name(row.Name))
			}
			sum.merge(t)
			c.Crawlers = append(c.Crawlers, row.Name)
		}
		c.Why = "denies the site to crawlers of a purpose that these have: " + words.List(c.Crawlers, 3)
		if len(much) > 0 && len(much) < len(c.Crawlers) {
			c.Why += ". To deny only those that cost much, write: deny " + strings.Join(much[:min(len(much), maxNamed)], " ")
		}
		if len(own) > 0 {
			c.Why += ". It does not deny " + words.List(own, 3) + ", which robots.txt has a group for; to deny them too, add their names to deny"
		}
		c.Crawlers = c.Crawlers[:min(len(c.Crawlers), maxNamed)]
		list = append(list, c.from(sum))
	}
	return list
}

// names reports whether robots.txt has a group for the crawler.
func (t *tally) names(row *crawler.Crawler) bool {
	return t.file != nil && t.file.Named(row.Robots[0]) != nil
}

// disallows returns a Disallow for paths that only robots get.
func (s *suggester) disallows(u *unit) (list []*candidate) {
	inUnit := func(t string) bool { return target.Matches(u.group, t) }
	if !s.canDisallow || u.wanted || slices.ContainsFunc(s.Sitemap, inUnit) {
		return nil
	}
	rows := s.costly(u.crawlers)
	rows = rows[:min(len(rows), maxNamed)]
	lines := "Disallow: " + strings.Join(u.patterns, "\nDisallow: ") + "\n"
	c, sum := s.candidate(disallow, robotsTxt, ""), new(tally)
	for _, row := range rows {
		sum.merge(u.crawlers[row])
		c.Crawlers = append(c.Crawlers, row.Name)
	}
	c.lines = s.groups(rows, lines, u.crawlers)
	c.Why = fmt.Sprintf("closes %s, which nobody but robots asks for", strings.Join(u.patterns, " "))
	return append(list, c.from(sum))
}

// limits returns a limit that lets a quarter of the requests of robots pass.
func (s *suggester) limits(u *unit) (list []*candidate) {
	if u.free || len(s.site.Limits) >= limits.Max || slices.ContainsFunc(s.site.Limits, u.isIn) {
		return nil
	}
	rate := snippet.Rate(float64(u.robots.Requests) / s.period.Minutes() / keptPart)
	lines := []string{"all " + rate.String()}
	if len(s.Hosts) > 0 {
		lines = append(lines, "hosts "+strings.Join(s.Hosts, " "))
	}
	c := s.candidate(limit, caddyfile, snippet.Limit(u.patterns, lines...))
	c.held = u.held
	c.limit = &limits.Limit{Paths: u.patterns, All: rate, Hosts: s.Hosts}
	c.Why = fmt.Sprintf("bounds what robots fetch of %s to a quarter of their pace. It holds no person and no search "+
		"engine, but feed readers and link previews",
		strings.Join(u.patterns, " "))
	return append(list, c.from(&u.robots))
}

// delays returns a Crawl-delay for each crawler that could have fetched everything in
// time with one, and was faster only at times.
func (s *suggester) delays() (list []*candidate) {
	for _, row := range s.costly(s.crawlers) {
		t := s.crawlers[row]
		delay := min(int(s.period.Seconds()/float64(t.Requests)), longestDelay)
		if delay < 1 || !s.canAddLines {
			continue
		}
		c := s.candidate(crawlDelay, robotsTxt, "")
		c.Crawlers = []string{row.Name}
		c.lines = s.groups([]*crawler.Crawler{row}, fmt.Sprintf("Crawl-delay: %d\n", delay), s.crawlers)
		c.Why = fmt.Sprintf("spreads the requests of %s: at this pace it had time for all of them", row.Name)
		list = append(list, c.from(t))
	}
	return list
}

// candidate returns a candidate without evidence.
func (s *suggester) candidate(kind, where, text string) *candidate {
	c := &candidate{Suggestion: audit.Suggestion{Kind: kind, Where: where, Text: text, Crawlers: []string{}}}
	c.Sure = "medium"
	if s.period >= sureDays*24*time.Hour && s.whole.Seconds > 0 {
		c.Sure = "high"
	}
	return c
}

// from sets the evidence for a candidate.
func (c *candidate) from(t *tally) *candidate {
	c.Addresses, c.estimate, c.targets = len(t.addresses), t.Sum, t.targets
	if c.Addresses < sureFrom {
		c.Sure = "medium"
	}
	if c.lines != "" {
		c.Text = c.lines
	}
	c.Text = strings.TrimSuffix(c.Text, "\n")
	return c
}

// costly returns crawlers, the most expensive first.
func (s *suggester) costly(list map[*crawler.Crawler]*tally) []*crawler.Crawler {
	return slices.SortedFunc(maps.Keys(list), func(a, b *crawler.Crawler) int {
		return cmp.Or(cmp.Compare(list[b].Share(s.whole), list[a].Share(s.whole)), strings.Compare(a.Name, b.Name))
	})
}

// groups returns groups of robots.txt with lines for crawlers. A crawler with a group
// of its own gets another one, because parsers combine groups with the same token (RFC
// 9309, section 2.2.1). For other crawlers, the new group replaces the group that they
// had, such as that for *, so it has the lines of that one too.
func (s *suggester) groups(rows []*crawler.Crawler, lines string, of map[*crawler.Crawler]*tally) string {
	var list []string
	at := make(map[string]int) // index in list, by the lines after the tokens
	for _, row := range rows {
		body := lines
		if t := of[row]; t.group != nil && !t.names(row) {
			body += t.copied(lines)
		}
		i, known := at[body]
		if !known {
			i = len(list)
			at[body] = i
			list = append(list, "")
		}
		list[i] += "User-agent: " + row.Robots[0] + "\n"
	}
	for body, i := range at {
		list[i] += body
	}
	return strings.Join(list, "\n")
}

// copied returns the lines of the crawler's group, without a Crawl-delay if there is a new one.
func (t *tally) copied(lines string) string {
	g := t.group
	var numbers []int
	for _, r := range g.Rules() {
		numbers = append(numbers, r.Line)
	}
	for _, f := range g.Fields() {
		if added, _, _ := strings.Cut(lines, ":"); !strings.EqualFold(f.Key, added) {
			numbers = append(numbers, f.Line)
		}
	}
	slices.Sort(numbers)
	text := ""
	for _, n := range slices.Compact(numbers) {
		if l, ok := t.file.Line(n); ok {
			text += strings.TrimSpace(l.Raw) + "\n"
		}
	}
	return text
}
