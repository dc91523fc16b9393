package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/diff"
)

// Rules is a robots.txt compiled for decisions: it has the group that applies
// to each known crawler, and the group's rules and rate limits. A
// Rules is immutable and safe for concurrent use.
type Rules struct {
	plans
	signals map[*robots.Group]*headers.Signals // nil unless Settings.Signals is set
	// signalsVary is set if signals differ between crawlers.
	signalsVary bool

	content  Content // of the site's own robots.txt
	text     []byte  // what file was parsed from: the site's own, with the lines of the operator
	etag     string  // of text
	merged   Merged  // nil if text has no lines of the operator
	mergeErr error
	octets   int64 // of memory without document, as estimated

	// Note is for the users of the package: what they know about the rules goes when these go.
	Note atomic.Value
}

// empty returns rules without a file.
func (r *Compiled) empty(c Content) *Rules {
	return (&Rules{plans: plans{document: r.documentOf(nil), settings: r}, content: c}).measured()
}

// compile compiles a robots.txt with the lines of the operator.
func (r *Compiled) compile(c Content) *Rules {
	p := &Rules{plans: plans{settings: r}, content: c}
	p.addLines()
	p.etag = fmt.Sprintf("%q", TagOf(xxhash.Sum64(p.text)))
	p.document = r.documentOf(p.text)
	p.compilePlans()
	if r.Signals {
		p.compileSignals()
	}
	return p.measured()
}

// measured returns p with octets set.
func (p *Rules) measured() *Rules {
	p.octets = fileCost + int64(len(p.limits))*limitCost + int64(len(p.text)-len(p.content.Body))
	return p
}

// Content returns what the rules were made of: the site's own robots.txt, or what is in
// force without one. The caller must not change its Body.
func (p *Rules) Content() *Content { return &p.content }

// Text returns the file that is in force: the site's own, with the lines of the
// operator. The caller must not change it.
func (p *Rules) Text() []byte { return p.text }

// SiteText returns the site's own robots.txt. The caller must not change it.
func (p *Rules) SiteText() []byte { return p.content.Body }

// Tag identifies the version of the file in logs: it is the opaque part of an entity
// tag of Text (RFC 9110, section 8.8.3), without quotes, or "" if there is no file.
func (p *Rules) Tag() string { return strings.Trim(p.etag, `"`) }

// TagOf returns the Tag of a file by its hash (XXH64), "" for 0.
func TagOf(hash uint64) string {
	if hash == 0 {
		return ""
	}
	return strconv.FormatUint(hash, 36)
}

// Outcome returns the outcome of the fetch that p was made from. It is Loaded
// for a robots.txt; without one, it is Missing, NotRobots, Forbidden, Redirected, Failed or
// Pending.
func (p *Rules) Outcome() Outcome { return p.content.Outcome }

// Status returns the HTTP status code of the answer that Outcome describes: 404
// or 410 for Missing, another 4xx for Forbidden. For other outcomes it returns 0.
func (p *Rules) Status() int { return p.content.Status }

// DeniesAll reports whether all paths are denied to crawlers, because the
// source fails, and the operator wants that (origins.Config.DenyFailed).
func (p *Rules) DeniesAll() bool { return p.content.DenyAll }

// PublishedContent returns the file that crawlers read, with the lines of the
// operator.
func (p *Rules) PublishedContent() Content {
	c := Content{Body: p.text, Outcome: p.content.Outcome, Status: p.content.Status, Apart: true}
	if len(p.text) > 0 {
		c.Outcome, c.Status = Loaded, 0
	}
	return c
}

// Comparable returns the crawlers of a registry that a comparison of files must know:
// those that obey the group of another crawler or not the group for `*`, and those
// that read the file with google/robotstxt.
func Comparable(registry *crawler.Registry) (list []diff.Crawler) {
	for row := range registry.All() {
		if ignores := row.Star == crawler.No; ignores || len(row.Robots) > 1 || row.ReadsGoogle {
			list = append(list, diff.Crawler{Tokens: row.Robots, IgnoresStar: ignores, ReadsGoogle: row.ReadsGoogle})
		}
	}
	return list
}

// Size returns the octets of memory that the rules take, without and for their File,
// which other rules may share.
func (p *Rules) Size() (own, file int64) { return p.octets, p.document.octets }

// Names are the clients that a robots.txt names. They outlive its rules where these had
// to be dropped, so that a client that only a group with its name binds waits while the
// file is read again, like other crawlers. The zero value has none.
type Names struct {
	matcher *crawler.Matcher
	rows    []int32 // crawlers of the registry
	octets  int64
}

// Size returns the octets of memory that n takes; 0 for the zero value.
func (n Names) Size() int64 { return n.octets }

// namesSize is the size of a Names in a map, in octets, without its names.
const namesSize = 150

// Names returns the clients that the file names, if they are more than those that the
// rules without it know.
func (p *Rules) Names(pending *Rules) Names {
	if p == pending {
		return Names{}
	}
	n := Names{matcher: p.matcher, octets: namesSize}
	if n.matcher != pending.matcher {
		n.octets += p.names
	}
	for _, named := range p.named {
		if _, known := pending.find(named.row); !known {
			n.rows = append(n.rows, named.row)
			n.octets += 4
		}
	}
	return n
}

// WithNames returns rules without a file that know names. They are p if that makes no
// difference.
func (p *Rules) WithNames(n Names) *Rules {
	if n.octets == 0 || n.matcher == p.matcher && n.rows == nil {
		return p
	}
	rules := p.settings.newRules(Content{Outcome: Pending})
	known := *rules.document
	known.matcher, known.names = n.matcher, n.octets-namesSize-4*int64(len(n.rows))
	rules.document, rules.named = &known, slices.Clone(rules.named)
	for _, row := range n.rows {
		rules.named = append(rules.named, namedPlan{row, namedBefore})
	}
	slices.SortFunc(rules.named, func(a, b namedPlan) int { return int(a.row - b.row) })
	return rules
}
