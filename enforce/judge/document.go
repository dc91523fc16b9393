package judge

import (
	"bytes"
	"hash/maphash"
	"strings"
	"unsafe"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/cespare/xxhash/v2"
)

// document is a parsed robots.txt, with what depends only on its text, the
// dialect and the registry. All engines of the process share equal documents,
// also those before and after a reload. It is immutable.
type document struct {
	file      *robots.File
	google    *robots.File     // as google/robotstxt reads it; nil if that makes no difference
	matcher   *crawler.Matcher // for the tokens of the registry and of the file
	people    map[string]bool  // the tokens of groups that apply to nobody, because people's clients send them; nil if there are none
	pathRules uint64           // a hash of the lines with the Allow and Disallow rules
	octets    int64            // of memory, at most: see cost
	names     int64            // the part of octets that matcher takes; counted for each document, also if several share it
	groups    int
	rules     int // Allow and Disallow lines with a path
}

// documentKey says which documents are equal, apart from a collision of hash.
type documentKey struct {
	hash     uint64
	registry *crawler.Registry
	dialect  robots.Dialect
	strict   bool
}

var documents interned[documentKey, document]

// hashSeed is random, so that nobody can write two texts with the same hash.
var hashSeed = maphash.MakeSeed()

// documentOf returns the document of a text, which must not change afterwards.
func (r *Compiled) documentOf(text []byte) *document {
	key := documentKey{maphash.Bytes(hashSeed, text), r.Registry, r.Dialect, r.Strict}
	d, _ := documents.get(key, func() (*document, error) { return r.parse(text), nil })
	return d
}

// matcherKey says which matchers are equal.
type matcherKey struct {
	hash     uint64 // of the tokens
	registry *crawler.Registry
}

// matchers are shared by all files that name the same crawlers, since many sites
// use the same list.
var matchers interned[matcherKey, crawler.Matcher]

// matcherOf returns the matcher for the tokens of a file.
func (r *Compiled) matcherOf(tokens []string) *crawler.Matcher {
	key := matcherKey{maphash.String(hashSeed, strings.Join(tokens, "\n")), r.Registry}
	if m := matchers.known(key); m != nil {
		return m
	}
	m := r.Registry.Matcher(tokens)
	if m == r.base {
		return m
	}
	m, _ = matchers.get(key, func() (*crawler.Matcher, error) { return m, nil })
	return m
}

func (r *Compiled) parse(text []byte) *document {
	d := &document{file: robots.ParseText(unsafe.String(unsafe.SliceData(text), len(text)), robots.WithDialect(r.Dialect)), matcher: r.base}
	if tokens := d.file.Tokens(); len(tokens) > 0 {
		d.matcher = r.matcherOf(tokens)
	}
	for _, value := range d.matcher.Ignored() {
		if _, token := d.file.NamedAs(value); token != "" && crawler.PeoplesProduct(token) {
			if d.people == nil {
				d.people = make(map[string]bool)
			}
			d.people[token] = true
		}
	}
	if !r.Strict {
		d.google = d.file.GoogleReading()
	}
	d.pathRules, d.rules = d.hashLines(false)
	d.groups = len(d.file.Groups())
	tokens := len(d.file.Tokens())
	if d.matcher != r.base {
		d.names = int64(tokens) * tokenCost
	}
	d.octets = fileCost + int64(len(text))*octetCost + int64(d.rules)*ruleCost + int64(bytes.Count(text, []byte("*")))*wildcardCost +
		int64(d.groups)*groupCost + d.names
	if d.google != nil {
		d.octets += d.octets / 2
	}
	return d
}

// What a file costs, parsed and compiled, in octets of memory. The files of 150 sites take
// two thirds of it, and hostile ones no more than it: see TestCostOfFiles.
const (
	fileCost     = 512
	octetCost    = 3 // for each octet
	ruleCost     = 90
	wildcardCost = 40 // for each "*"
	groupCost    = 350
	tokenCost    = 110
	limitCost    = 800 // for each group with rate limits
)

// hashLines returns a hash of the User-agent, Allow and Disallow lines, and how many
// rules have a path. With all, the hash is also of the other lines that crawlers obey.
// It takes time in proportion to the size of the file, however many groups have the
// same rules.
func (d *document) hashLines(all bool) (sum uint64, rules int) {
	var hash xxhash.Digest
	for _, f := range []*robots.File{d.file, d.google} {
		if f == nil {
			continue
		}
		_, _ = hash.WriteString("\x01")
		old := f.Dialect() != robots.RFC9309 && f.Dialect() != robots.Google // a blank line ends a group
		for line := range f.Lines() {
			switch line.Directive {
			case robots.DirectiveCrawlDelay, robots.DirectiveRequestRate, robots.DirectiveVisitTime, robots.DirectiveNoindex,
				robots.DirectiveContentSignal, robots.DirectiveContentUsage:
				if !all {
					continue
				}
			case robots.DirectiveAllow, robots.DirectiveDisallow:
				if f == d.file && line.Value != "" {
					rules++
				}
			case robots.DirectiveUserAgent:
			case robots.DirectiveNone:
				if old && strings.TrimSpace(line.Raw) == "" {
					_, _ = hash.WriteString("\n")
				}
				continue
			default:
				continue
			}
			for _, text := range [...]string{"\n", line.Directive.String(), ":", line.Value} {
				_, _ = hash.WriteString(text)
			}
		}
	}
	return hash.Sum64(), rules
}

// AllLines returns a hash of all lines that crawlers obey. Files that differ only in
// comments, sitemaps and the like have the same.
func (d *document) AllLines() uint64 {
	sum, _ := d.hashLines(true)
	return sum
}

// Matcher returns the matcher that identifies crawlers for the site.
func (d *document) Matcher() *crawler.Matcher { return d.matcher }

// PathRules returns a hash of the lines with the Allow and Disallow rules: files with
// the same one differ for no crawler's paths.
func (d *document) PathRules() uint64 { return d.pathRules }

// File returns the parsed robots.txt. It is empty if there is none.
func (d *document) File() *robots.File { return d.file }

// GroupCount returns the number of groups in the file.
func (d *document) GroupCount() int { return d.groups }

// RuleCount returns the number of Allow and Disallow lines with a path.
func (d *document) RuleCount() int { return d.rules }

// Ignored returns the tokens of the file that the engine does not look for in
// requests, because browsers send them: a group for Mozilla would apply to
// people.
func (d *document) Ignored() []string { return d.matcher.Ignored() }

// identify finds the crawlers that a User-Agent names, by the tokens of the
// registry and of the file, and writes them to id. It allocates nothing for a
// User-Agent that is in the cache.
func (d *document) identify(userAgent string, id *crawler.Identity) {
	identities().Identify(d.matcher, userAgent, id)
}
