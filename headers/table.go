package headers

import (
	"fmt"
	"math/bits"
	"net/http"
	"slices"
	"strings"
)

// maxSettings is the maximal number of rules that Compile accepts.
const maxSettings = 512

// Table is a compiled list of rules. It compares a request with one rule after the
// other: a rule takes some nanoseconds, a regular expression about 50.
//
// Table does not change and is safe for concurrent use.
type Table struct {
	rules               []compiled // sorted by crawler: those for all crawlers first
	response, mediaType bool       // some rule needs the media type or the status; the media type
}

// compiled is a compiled rule.
type compiled struct {
	Setting
	matches matcher
	value   string // of the header
}

func (c *compiled) tag() Tag { return Tag{c.Crawler, c.Directives} }

// names reports whether the rule is for the crawler.
func (c *compiled) names(crawler string) bool { return strings.EqualFold(crawler, c.Crawler) }

// Compile compiles rules. It returns an error for an invalid rule, with its index
// from 0, and for too many rules.
func Compile(rules []Setting) (*Table, error) {
	if len(rules) > maxSettings {
		return nil, fmt.Errorf("%d rules; at most %d are allowed", len(rules), maxSettings)
	}
	r := new(Table)
	for i, s := range rules {
		if err := s.Validate(); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
		c := compiled{Setting: s}
		c.matches, _ = s.compile()
		c.value = c.tag().String()
		r.rules = append(r.rules, c)
		r.response, r.mediaType = r.response || !s.Kind.ofRequest(), r.mediaType || s.Kind == KindType
	}
	slices.SortStableFunc(r.rules, func(a, b compiled) int {
		return strings.Compare(strings.ToLower(a.Crawler), strings.ToLower(b.Crawler))
	})
	return r, nil
}

// NeedsResponse reports whether any rule depends on the media type or the
// status. If so, Apply may add directives even if the Match is Empty.
func (r *Table) NeedsResponse() bool { return r != nil && r.response }

// NeedsMediaType reports whether any rule depends on the media type.
func (r *Table) NeedsMediaType() bool { return r != nil && r.mediaType }

// Match is the set of rules that match a request. Table.Match returns it before
// the handler runs. Apply adds the header later, when the status and the media
// type of the response are known. The zero Match applies no rules.
type Match struct {
	rules *Table
	set   [maxSettings / 64]uint64 // a bit for each of rules.rules
}

// Empty reports whether no rule for a name or path matches. If
// Table.NeedsResponse is true, rules for a media type or status may still
// match.
func (m *Match) Empty() bool { return m.set == [len(m.set)]uint64{} }

// Match finds the rules for file names and paths that match a request. target
// is the path and query as requested: percent-encoded, before any rewrite. It
// may be in absolute form. Match compares patterns for names with the file name
// as a server reads it: percent-decoded once, without dot segments. It compares
// patterns for paths with two forms of the target: with the path as a server
// reads it, and with the canonical form of RFC 9309. A rule matches if its
// pattern matches one of the two.
func (r *Table) Match(target string) Match {
	m := Match{rules: r}
	if r == nil || len(r.rules) == 0 {
		return m
	}
	v := read(target)
	for i := range r.rules {
		if c := &r.rules[i]; c.Kind.ofRequest() && c.matches(v, "", 0) != c.Not {
			m.set[i/64] |= 1 << (i % 64)
		}
	}
	v.release()
	return m
}

// Apply adds the directives of the matching rules to h, the header of a
// response that is about to be written with the given status. crawlers are the
// product tokens of the crawler that sent the request, nil for other clients. A
// rule with Only applies only to these crawlers. If a rule with Only matches
// the response, Apply adds User-Agent to Vary for all clients, since the
// response depends on it.
//
// Apply merges the directives for the same crawler to one value. If directives
// contradict each other, it keeps the more restrictive one. It adds the values
// to the fields that h already has, as AddTags does.
//
// Apply reads the media type from Content-Type in h. If there is none, no rule
// for a media type applies. Apply adds nothing to interim responses (1xx,
// including an upgrade to WebSocket). To a 304 it adds what a 200 gets: with it,
// the client updates the header that it stored (RFC 9111, section 3.2).
func (m Match) Apply(h http.Header, status int, crawlers []string) {
	if m.rules == nil || status < 200 {
		return
	}
	if m.rules.response {
		m.matchResponse(h, status)
	}
	var room [4]Tag
	tags, value, varies := room[:0], "", false // value is that of tags if one rule made them
	for i, word := range m.set {
		for ; word != 0; word &= word - 1 {
			c := &m.rules.rules[i*64+bits.TrailingZeros64(word)]
			varies = varies || c.Only
			if c.value == value || c.Only && !slices.ContainsFunc(crawlers, c.names) {
				continue
			}
			last := len(tags) - 1
			if last >= 0 && c.names(tags[last].Crawler) { // rules for one crawler follow each other
				tags[last].Directives, value = tags[last].Directives.restrict(c.Directives), ""
				continue
			}
			tags, value = append(tags, c.tag()), c.value
		}
	}
	if varies {
		AddVary(h, "User-Agent")
	}
	switch {
	case len(tags) == 1 && value != "" && len(h[fieldName]) == 0:
		h[fieldName] = []string{value}
	case len(tags) > 0:
		AddTags(h, tags)
	}
}

// matchResponse adds the rules that match the status and the media type of the
// response.
func (m *Match) matchResponse(h http.Header, status int) {
	if status == http.StatusNotModified {
		status = http.StatusOK
	}
	media := ""
	if values := h["Content-Type"]; len(values) > 0 {
		media, _, _ = strings.Cut(values[0], ";")
		media = strings.ToLower(trim(media)) // allocates only for upper case
	}
	typed := strings.Contains(media, "/")
	for i := range m.rules.rules {
		c := &m.rules.rules[i]
		if c.Kind == KindStatus || c.Kind == KindType && typed {
			if c.matches(nil, media, status) != c.Not {
				m.set[i/64] |= 1 << (i % 64)
			}
		}
	}
}
