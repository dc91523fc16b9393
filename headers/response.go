package headers

import (
	"net/http"
	"slices"
	"strings"
)

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

// matchResponse adds the rules that match the status and the media type of the
// response.
func (m *Match) matchResponse(h http.Header, status int) {
	r := m.rules
	m.addRules(r.statuses[status])
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

// maxMediaType is more than the maximal length of a media type, in octets: 127
// octets on each side of the slash (RFC 6838, section 4.2).
const maxMediaType = 2*127 + 2

// lowerMediaType returns the media type in a Content-Type value, in lower case
// and without parameters. It uses buf for the result, and returns nil if the
// media type is too long.
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
