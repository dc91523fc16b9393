package managed

import (
	"fmt"
	"maps"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/diff"
)

// A ProofError is the reason not to use a merged file: a crawler outside the
// policy would get other rules, or the check could not be completed.
type ProofError struct{ reason string }

// Error returns the crawler, and the path or limit that would change.
func (e *ProofError) Error() string {
	return "the policy is not merged into robots.txt, because " + e.reason
}

// prove compares the site's file with the merged file. It uses no result of the
// merger: it finds the crawlers that the policy applies to again, from the
// policy, the registry and the site's file.
func (l *Lines) prove(before, after *robots.File) error {
	outside := l.outside(before)
	result := diff.Unaffected(before, after, outside.covers, outside.crawlers...)
	for _, c := range result.Changes {
		for _, token := range c.Crawlers {
			if outside.covers(token) || c.What != "verdict" && outside.unpaced(token, before, c) {
				continue
			}
			if c.What != "verdict" || len(c.Paths) == 0 {
				return &ProofError{fmt.Sprintf("a limit for %s would change: %q in place of %q", token, c.New, c.Old)}
			}
			verdict := "disallowed"
			if c.Allowed {
				verdict = "allowed"
			}
			return &ProofError{fmt.Sprintf("for %s, %s would be %s", token, c.Paths[0], verdict)}
		}
	}
	if !result.Complete {
		return &ProofError{"the file has too many rules to check that nothing changes for other crawlers"}
	}
	return nil
}

// outsiders are the crawlers for which a merge must not change anything.
type outsiders struct {
	inside   map[string]bool // tokens of crawlers that the policy applies to, in lower case
	registry *crawler.Registry
	crawlers []diff.Crawler
}

// outside finds the crawlers that the policy does not apply to in a file: those
// that it does not mention, and those that have their own group in the file and
// that it mentions only by purpose. Crawlers with the same first token count as
// one.
func (l *Lines) outside(before *robots.File) *outsiders {
	o := &outsiders{inside: map[string]bool{}, registry: l.registry}
	groups := map[string]bool{}
	for _, cv := range l.covers {
		if cv == nil {
			continue
		}
		if own, _ := l.ownGroup(before, cv.crawler); own == nil && l.owner(cv.crawler) == cv.crawler || cv.named.any {
			groups[strings.ToLower(first(cv.crawler))] = true
		}
	}
	words := map[string]bool{} // first words of tokens: lines with a token also name the first word
	for row := range l.registry.All() {
		if groups[strings.ToLower(first(row))] {
			for _, t := range append(row.Tokens(), first(row)) {
				o.inside[strings.ToLower(t)] = true
				words[strings.ToLower(canonical.FirstWord(t))] = true
			}
			continue
		}
		o.crawlers = append(o.crawlers, diff.Crawler{Tokens: row.Robots, IgnoresStar: row.Star == crawler.No, ReadsGoogle: row.ReadsGoogle})
	}
	for _, c := range o.crawlers {
		for _, t := range c.Tokens {
			delete(words, strings.ToLower(t))
		}
	}
	for _, t := range before.Tokens() {
		delete(words, strings.ToLower(t))
	}
	maps.Copy(o.inside, words)
	return o
}

// covers reports whether the policy applies to the crawler with a token.
func (o *outsiders) covers(token string) bool {
	return o.inside[strings.ToLower(token)] || token != "*" && o.inside[strings.ToLower(canonical.FirstWord(token))]
}

// unpaced reports whether a limit that the merged file no longer has was a
// limit of the group for `*`, and the crawler is documented to ignore
// Crawl-delay. Such a limit was never enforced.
func (o *outsiders) unpaced(token string, before *robots.File, c diff.Change) bool {
	if c.New != "" {
		return false
	}
	row := o.registry.Lookup(token)
	if row == nil || row.CrawlDelay != crawler.No || !strings.EqualFold(first(row), token) {
		return false
	}
	_, star := groupOf(before, row)
	return star
}
