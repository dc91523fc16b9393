package headers

import (
	"net/http"
	"slices"
	"strings"
)

// Apply adds what the matching rules ask for to h, the header of a response
// that is about to be written with status. crawlers are the product tokens of
// the crawler that asks, nil if none does; a rule with Only is for them alone.
// Where a rule with Only matches, whoever asks, the response differs by
// User-Agent, and Apply says so in Vary.
//
// Rules that speak to the same crawler merge into one value, the more
// restrictive of contradicting ones wins, and so it does against what h
// already has: that is kept but for directives that allow what a rule forbids,
// and what it already says is not said again. AddTags says in which order the
// values go out.
//
// The media type is that of h's Content-Type; without one no rule of a type
// applies. Nothing is added to interim responses (1xx, also an upgrade to WebSocket),
// and to a 304, with which a client keeps the header it stored, only Vary is.
func (m Match) Apply(h http.Header, status int, crawlers []string) {
	if m.rules == nil || status < 200 {
		return
	}
	if m.rules.response && status != http.StatusNotModified {
		m.matchResponse(h, status)
	}
	if m.n == 0 {
		return
	}
	var first *said
	var several []Tag
	varies := false
	m.each(func(s *said) {
		varies = varies || s.only
		switch {
		case s.only && !containsFold(crawlers, s.Crawler):
		case first == nil:
			first = s
		default:
			if several == nil {
				several = append(make([]Tag, 0, 4), first.Tag)
			}
			if last := &several[len(several)-1]; strings.EqualFold(last.Crawler, s.Crawler) {
				last.Directives = last.Directives.Restrict(s.Directives)
			} else {
				several = append(several, s.Tag)
			}
		}
	})
	if varies {
		AddVary(h, "User-Agent")
	}
	switch {
	case first == nil || status == http.StatusNotModified:
	case several != nil:
		AddTags(h, several)
	case len(h[fieldName]) == 0:
		h[fieldName] = []string{first.value}
	default:
		AddTags(h, []Tag{first.Tag})
	}
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
		m.addRules(r.statuses[status])
	}
	var buf [maxMediaType]byte
	var media []byte
	if values := h["Content-Type"]; len(values) > 0 {
		media = lowerMediaType(&buf, values[0])
	}
	slash := slices.Index(media, '/')
	if slash > 0 && len(r.types) > 0 {
		m.addRules(r.types[string(media)])
		var class [maxMediaType]byte
		n := copy(class[:], media[:slash+1])
		class[n] = '*'
		m.addRules(r.types[string(class[:n+1])])
	}
	for _, id := range r.notIn {
		switch p := r.rules[id].pattern.(type) {
		case mediaType:
			if slash > 0 && !p.match(media, slash) {
				m.addRule(id)
			}
		case statusRange:
			if p.status != status && !(p.class && p.status == status/100*100) {
				m.addRule(id)
			}
		}
	}
}

func (m *Match) addRules(ids []int32) {
	for _, id := range ids {
		m.addRule(id)
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
