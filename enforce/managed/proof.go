package managed

import (
	"fmt"
	"maps"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/diff"
)

// A ProofError says why a merged file is not used: a crawler outside the policy
// would get other rules, or that can't be ruled out.
type ProofError struct {
	Crawler string // its product token; "*": those that the file does not name
	Path    string // for which the verdict would change; "" if something else would change
	Line    int    // of the site's file, of the rule or limit that decided; 0: none
	Detail  string // which rules it would get before and after
}

// Error says which crawler and path would have changed.
func (e *ProofError) Error() string {
	switch {
	case e.Crawler == "":
		return "the policy is not merged into robots.txt: the file has too many rules to prove that nothing changes for other crawlers"
	case e.Path != "":
		return fmt.Sprintf("the policy is not merged into robots.txt: for %s, %s would be %s", e.Crawler, e.Path, e.Detail)
	}
	return fmt.Sprintf("the policy is not merged into robots.txt: for %s it would change: %s", e.Crawler, e.Detail)
}

// prove compares the site's file with the merged one. It trusts nothing that
// the merger found out: whom the policy covers is worked out again, from the
// policy, the registry and the site's file.
func (l *Lines) prove(before, after *robots.File) error {
	outside := l.outside(before)
	result := diff.Unaffected(before, after, outside.covers, outside.crawlers...)
	for _, c := range result.Changes {
		for _, token := range c.Crawlers {
			if outside.covers(token) || c.What != "verdict" && outside.unpaced(token, before, c) {
				continue
			}
			e := &ProofError{Crawler: token, Line: c.OldLine, Detail: fmt.Sprintf("%q in place of %q", c.New, c.Old)}
			if c.What == "verdict" {
				if e.Detail = "disallowed"; c.Allowed {
					e.Detail = "allowed"
				}
				if len(c.Paths) > 0 {
					e.Path = c.Paths[0]
				}
			}
			return e
		}
	}
	if !result.Complete {
		return &ProofError{}
	}
	return nil
}

// outsiders are the crawlers that a merge must change nothing for.
type outsiders struct {
	inside   map[string]bool // tokens of crawlers that the policy covers, in lower case
	registry *crawler.Registry
	crawlers []diff.Crawler
}

// outside finds the crawlers that a policy does not cover in a file: those
// that it says nothing about, and those with a group of their own whose
// purpose alone it speaks of. Crawlers that obey the same group first can't be
// told apart.
func (l *Lines) outside(before *robots.File) *outsiders {
	o := &outsiders{inside: map[string]bool{}, registry: l.registry}
	groups := map[string]bool{}
	for _, cv := range l.covers {
		if cv == nil {
			continue
		}
		if own, _ := l.ownGroup(before, cv.crawler); own == nil && l.owner(cv.crawler) == cv.crawler || cv.named.said {
			groups[lower(first(cv.crawler))] = true
		}
	}
	words := map[string]bool{} // first words of tokens: lines with the token name these too
	for row := range l.registry.All() {
		if groups[lower(first(row))] {
			for _, t := range append(row.Tokens(), first(row)) {
				o.inside[lower(t)] = true
				words[lower(firstWord(t))] = true
			}
			continue
		}
		o.crawlers = append(o.crawlers, diff.Crawler{Tokens: row.Robots, IgnoresStar: row.Star == crawler.No, ReadsGoogle: row.ReadsGoogle})
	}
	for _, c := range o.crawlers {
		for _, t := range c.Tokens {
			delete(words, lower(t))
		}
	}
	for _, t := range before.Tokens() {
		delete(words, lower(t))
	}
	maps.Copy(o.inside, words)
	return o
}

// covers reports whether the policy covers the crawler with that token.
func (o *outsiders) covers(token string) bool {
	return o.inside[lower(token)] || token != "*" && o.inside[lower(firstWord(token))]
}

// unpaced reports whether a limit that is gone was one of `*` for a crawler
// that reads none, as its operator documents: it was never held to it.
func (o *outsiders) unpaced(token string, before *robots.File, c diff.Change) bool {
	if c.New != "" {
		return false
	}
	row := o.registry.Lookup(token)
	if row == nil || row.CrawlDelay != crawler.No || !strings.EqualFold(first(row), token) {
		return false
	}
	_, star := obeyed(before, row)
	return star
}
