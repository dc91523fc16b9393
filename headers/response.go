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
// including an upgrade to WebSocket). To a 304 it adds what a 200 gets: with it,
// the client updates the header that it stored (RFC 9111, section 3.2).
func (m Match) Apply(h http.Header, status int, crawlers []string) {
	if m.rules == nil || status < 200 {
		return
	}
	if m.rules.response {
		if status == http.StatusNotModified {
			status = http.StatusOK
		}
		m.matchResponse(h, status)
	}
	var first *compiled
	var several []Tag
	varies := false
	m.each(func(s *compiled) {
		varies = varies || s.Only
		switch {
		case s.Only && !slices.ContainsFunc(crawlers, func(name string) bool { return strings.EqualFold(name, s.Crawler) }):
		case first == nil:
			first = s
		case several == nil && s.value == first.value:
		default:
			if several == nil {
				several = append(make([]Tag, 0, 4), first.tag())
			}
			if last := &several[len(several)-1]; strings.EqualFold(last.Crawler, s.Crawler) {
				last.Directives = last.Directives.restrict(s.Directives)
			} else {
				several = append(several, s.tag())
			}
		}
	})
	if varies {
		AddVary(h, "User-Agent")
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

// matchResponse adds the rules that match the status and the media type of the
// response.
func (m *Match) matchResponse(h http.Header, status int) {
	r := m.rules
	media := ""
	if values := h["Content-Type"]; len(values) > 0 {
		media, _, _ = strings.Cut(values[0], ";")
		media = strings.ToLower(trim(media)) // allocates only for upper case
	}
	top, sub, typed := strings.Cut(media, "/")
	for i := range r.rules {
		c := &r.rules[i]
		switch p := c.pattern.(type) {
		case mediaType: // never applies to a response without one
			if typed && (p.top == top && (p.sub == "*" || p.sub == sub)) != c.Not {
				m.add(i)
			}
		case statusRange:
			if (p.status == status || p.class && p.status == status/100*100) != c.Not {
				m.add(i)
			}
		}
	}
}

// AddVary adds the name of a request field, such as User-Agent, to the Vary
// field of h. It means that the response depends on that field (RFC 9110,
// section 12.5.5). AddVary adds nothing if Vary already has the name or is *.
// It does not modify the slices in h in place.
func AddVary(h http.Header, field string) {
	values := h["Vary"]
	for _, v := range values {
		for name := range strings.SplitSeq(v, ",") {
			if name = trim(name); name == "*" || strings.EqualFold(name, field) {
				return
			}
		}
	}
	h["Vary"] = append(values[:len(values):len(values)], field)
}
