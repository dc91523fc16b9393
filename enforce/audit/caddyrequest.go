package audit

import (
	"strings"
)

// request reads the object of that name.
func (p *caddyLog) request(e *entry, l *caddyLine) bool {
	o := &p.walk
	if !o.begin('{') {
		return false
	}
	for first := true; ; first = false {
		more, ok := o.more('}', first)
		if !ok || !more {
			return ok
		}
		key, ok := o.key()
		if !ok || !p.requestMember(lastSegment(key), e, l) {
			return false
		}
	}
}

func (p *caddyLog) requestMember(key []byte, e *entry, l *caddyLine) bool {
	o := &p.walk
	var to *string
	switch string(key) {
	case "headers":
		if o.b[o.i] != '{' {
			return o.skipValue()
		}
		l.agent = true
		return p.headers(e)
	case "method":
		to = &e.method
	case "uri":
		to = &e.target
	case "host", "hostname", "vhost":
		to = &e.host
	case "client_ip":
		to = &e.client
	case "remote_ip":
		if e.client != "" {
			return o.skipValue()
		}
		to = &e.client
	case "remote_addr":
		if e.client != "" {
			return o.skipValue()
		}
		if !o.string(&e.client) {
			return false
		}
		e.client = withoutPort(e.client)
		return true
	case "User-Agent", "user-agent", "user_agent", "UserAgent", "useragent", "ua":
		l.agent = true
		return p.values(func(s string) { e.agents = append(e.agents, s) })
	default:
		return o.skipValue()
	}
	return o.string(to)
}

// withoutPort removes the port of host:port.
func withoutPort(s string) string {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[") {
		return s
	}
	return strings.Trim(s[:i], "[]")
}

// string reads a string into to. What is none is left out.
func (o *object) string(to *string) bool {
	if o.b[o.i] != '"' {
		return o.skipValue()
	}
	b, ok := o.text()
	*to = view(b)
	return ok
}

// headers reads the fields of the request.
func (p *caddyLog) headers(e *entry) bool {
	o := &p.walk
	if !o.begin('{') {
		return false
	}
	for first := true; ; first = false {
		more, ok := o.more('}', first)
		if !ok || !more {
			return ok
		}
		key, ok := o.key()
		if !ok {
			return false
		}
		switch string(lastSegment(key)) {
		case "User-Agent", "user-agent", "ua", "UA", "user_agent":
			ok = p.values(func(s string) { e.agents = append(e.agents, s) })
		case "Referer", "referer":
			ok = p.values(func(s string) {
				if e.referer == "" {
					e.referer = s
				}
			})
		case "Authorization":
			e.authorized = true
			ok = o.skipValue()
		case "X-Forwarded-For", "Via", "Cf-Ray", "Cdn-Loop", "X-Amz-Cf-Id", "Fastly-Client-Ip", "True-Client-Ip", "X-Varnish":
			e.forwarded = true
			ok = o.skipValue()
		default:
			ok = o.skipValue()
		}
		if !ok {
			return false
		}
	}
}

// maxValues bounds the values of one field that are read.
const maxValues = 17

// values calls f for the strings of an array, or for the one that stands in its
// place.
func (p *caddyLog) values(f func(string)) bool {
	o := &p.walk
	if o.b[o.i] != '[' {
		if o.b[o.i] != '"' {
			return o.skipValue()
		}
		b, ok := o.text()
		f(view(b))
		return ok
	}
	o.i++
	for n, first := 0, true; ; n, first = n+1, false {
		more, ok := o.more(']', first)
		if !ok || !more {
			return ok
		}
		if o.b[o.i] != '"' || n >= maxValues {
			if !o.skipValue() {
				return false
			}
			continue
		}
		b, ok := o.text()
		if !ok {
			return false
		}
		f(view(b))
	}
}
