package headers

import (
	"net/http"
	"slices"
	"strings"
)

// Apply adds the directives of the matching rules to h. h is the header of a
// response that is about to be written with the given status. crawlers are the
// product tokens of the crawler that sent the request, nil for other clients. A
// rule with Only applies only to these crawlers. If a rule with Only matches
// the response, Apply adds User-Agent to Vary for every client, since the
// response depends on it.
//
// Apply merges rules for the same crawler into one value. If directives
// contradict each other, the more restrictive one wins. It merges the result
// into the existing fields of h as AddTags does, and in that order.
//
// The media type is that of Content-Type in h. Without a Content-Type no rule
// for a media type applies. Apply adds nothing to interim responses (1xx,
// including an upgrade to WebSocket). To a 304 it adds only Vary, since the
// client keeps the header that it stored.
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
	var first *headerValue
	var several []Tag
	varies := false
	m.each(func(s *headerValue) {
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
	for _, id := range r.negatedResponse {
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

// maxMediaType is the longest media type, in octets: 127 octets on either side
// of the slash (RFC 6838, section 4.2).
const maxMediaType = 2*127 + 2

// lowerMediaType returns the media type of a Content-Type value, without
// parameters and in lower case; nil if the value has none.
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
