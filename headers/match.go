package headers

import (
	"net/http"
	"slices"
	"strings"
)

// inlineMatches is the number of matching rules that a Match holds without
// allocating.
const inlineMatches = 8

// Match is the rules that match a request, found before its handler runs, so
// that Apply can write their headers when the response's status and media type
// are known. It is a value; the zero Match applies nothing.
type Match struct {
	rules *Rules
	n     int
	ids   [inlineMatches]int32
	more  []int32
}

// Empty reports whether no rule of a name or path matches. Rules of a media
// type or status may still, where NeedsResponse reports so.
func (m *Match) Empty() bool { return m.n == 0 }

// add adds a rule, once.
func (m *Match) add(id int32) {
	for i := range min(m.n, inlineMatches) {
		if m.ids[i] == id {
			return
		}
	}
	if m.n < inlineMatches {
		m.ids[m.n] = id
		m.n++
		return
	}
	if !slices.Contains(m.more, id) {
		m.more = append(m.more, id)
		m.n++
	}
}

func (m *Match) addIf(id int32, matches bool) {
	if matches {
		m.add(id)
	}
}

func (m *Match) addAll(ids []int32) {
	for _, id := range ids {
		m.add(id)
	}
}

// id is the i-th rule of m.
func (m *Match) id(i int) int32 {
	if i < inlineMatches {
		return m.ids[i]
	}
	return m.more[i-inlineMatches]
}

// Apply adds what the matching rules ask for to h, the header of a response
// that is about to be written with status. crawlers are the product tokens of
// the crawler that asks, nil if none does; a rule with Only is for them alone.
//
// Rules that speak to the same crawler merge into one value, the more
// restrictive of contradicting ones wins, and so it does against what h
// already has: that is kept but for directives that allow what a rule forbids,
// and what it already says is not said again.
//
// The media type is that of h's Content-Type; without one no rule of a type
// applies. Nothing is added to interim responses (1xx, also an upgrade to WebSocket),
// and nothing to a 304, with which a client keeps the header it stored.
func (m Match) Apply(h http.Header, status int, crawlers []string) {
	if m.rules == nil || status < 200 || status == http.StatusNotModified {
		return
	}
	if m.rules.response {
		m.matchResponse(h, status)
	}
	if m.n == 0 {
		return
	}
	var first *compiled
	var several []Tag
	slices.Sort(m.ids[:min(m.n, inlineMatches)])
	slices.Sort(m.more)
	for i := range m.n {
		rule := &m.rules.rules[m.id(i)]
		switch {
		case rule.Only && !containsFold(crawlers, rule.Crawler):
		case first == nil:
			first = rule
		default:
			if several == nil {
				several = append(make([]Tag, 0, 4), first.tag())
			}
			several = restrictTag(several, rule.tag())
		}
	}
	switch {
	case first == nil:
	case several != nil:
		AddTags(h, several)
	case len(h[fieldName]) == 0:
		h[fieldName] = []string{first.value}
	default:
		AddTags(h, []Tag{first.tag()})
	}
}

func (c *compiled) tag() Tag { return Tag{c.Crawler, c.Directives} }

// restrictTag adds t to tags, into the one of the same crawler if there is one.
func restrictTag(tags []Tag, t Tag) []Tag {
	for i := range tags {
		if strings.EqualFold(tags[i].Crawler, t.Crawler) {
			tags[i].Directives = tags[i].Directives.Restrict(t.Directives)
			return tags
		}
	}
	return append(tags, t)
}

func containsFold(list []string, s string) bool {
	for _, l := range list {
		if strings.EqualFold(l, s) {
			return true
		}
	}
	return false
}

// matchResponse adds the rules of the response's status and media type.
func (m *Match) matchResponse(h http.Header, status int) {
	r := m.rules
	if status < len(r.statuses) {
		m.addAll(r.statuses[status])
	}
	var buf [maxMediaType]byte
	var media []byte
	if values := h["Content-Type"]; len(values) > 0 {
		media = lowerMediaType(&buf, values[0])
	}
	slash := slices.Index(media, '/')
	if slash > 0 && len(r.types) > 0 {
		m.addAll(r.types[string(media)])
		var class [maxMediaType]byte
		n := copy(class[:], media[:slash+1])
		class[n] = '*'
		m.addAll(r.types[string(class[:n+1])])
	}
	for _, id := range r.notIn {
		switch p := r.rules[id].pattern.(type) {
		case mediaType:
			if slash > 0 && !p.match(media, slash) {
				m.add(id)
			}
		case statusRange:
			if p.status != status && !(p.class && p.status == status/100*100) {
				m.add(id)
			}
		}
	}
}

func (t mediaType) match(media []byte, slash int) bool {
	return t.top == string(media[:slash]) && (t.sub == "*" || t.sub == string(media[slash+1:]))
}

// maxMediaType is more than a registered media type may have: 127 octets on
// either side of the slash (RFC 6838, section 4.2).
const maxMediaType = 2*127 + 2

// lowerMediaType is the media type of a Content-Type value, without its
// parameters and in lower case; nil if it is none.
func lowerMediaType(buf *[maxMediaType]byte, value string) []byte {
	if i := strings.IndexByte(value, ';'); i >= 0 {
		value = value[:i]
	}
	value = trim(value)
	if len(value) >= maxMediaType {
		return nil
	}
	for i := range len(value) {
		c := value[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		buf[i] = c
	}
	return buf[:len(value)]
}
