package logformat

import (
	"cmp"
	"strings"
)

// request parses the object "request".
func (p *caddyLog) request(e *Entry, l *caddyLine) bool {
	return p.walk.members(func(key []byte) bool { return p.requestMember(lastSegment(key), e, l) })
}

// requestMember parses one member of the object "request".
func (p *caddyLog) requestMember(key []byte, e *Entry, l *caddyLine) bool {
	o := &p.walk
	var to *string
	switch string(key) {
	case "headers":
		if o.b[o.i] != '{' {
			return o.skipValue()
		}
		l.agent, e.HasFields = true, true
		return p.headers(e)
	case "tls":
		e.TLS = o.b[o.i] == '{'
		return o.skipValue()
	case "remote_port":
		to = &e.Port
	case "method":
		to = &e.Method
	case "uri":
		to = &e.Target
	case "host", "hostname", "vhost":
		to = &e.Host
	case "client_ip":
		to = &e.Client
	case "remote_ip":
		ok := o.string(&e.Remote)
		e.Client = cmp.Or(e.Client, e.Remote)
		return ok
	case "remote_addr":
		var address string
		if !o.string(&address) {
			return false
		}
		e.Remote = withoutPort(address)
		e.Port = address[strings.LastIndexByte(address, ':')+1:]
		e.Client = cmp.Or(e.Client, e.Remote)
		return true
	case "User-Agent", "user-agent", "user_agent", "UserAgent", "useragent", "ua":
		l.agent = true
		return p.walk.texts(&e.UserAgents)
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

// string parses a string into to. It skips other values.
func (o *object) string(to *string) bool {
	if o.b[o.i] != '"' {
		return o.skipValue()
	}
	b, ok := o.text()
	*to = view(b)
	return ok
}

// headers parses the header fields of the request.
func (p *caddyLog) headers(e *Entry) bool {
	return p.walk.members(func(key []byte) bool { return p.header(lastSegment(key), e) })
}

// header parses one header field of the request.
func (p *caddyLog) header(name []byte, e *Entry) bool {
	switch string(name) {
	case "User-Agent", "user-agent", "ua", "UA", "user_agent":
		return p.walk.texts(&e.UserAgents)
	case "Authorization":
		e.Authorized = true
		return p.walk.skipValue()
	case "X-Forwarded-For":
		e.Forwarded = true
	case "Via", "Cf-Ray", "Cdn-Loop", "X-Amz-Cf-Id", "Fastly-Client-Ip", "True-Client-Ip", "X-Varnish":
		e.Forwarded = true
		return p.walk.skipValue()
	}
	return p.field(name, e)
}

// field parses a field that is in FieldNames, and skips others.
func (p *caddyLog) field(name []byte, e *Entry) bool {
	i := fieldOf(name)
	if i < 0 {
		return p.walk.skipValue()
	}
	n := len(e.Fields[i])
	ok := p.walk.texts(&e.Fields[i])
	if len(e.Fields[i]) == n { // the field was there, but its value was removed
		e.Fields[i] = append(e.Fields[i], "")
	}
	return ok
}

// maxValues is the largest number of values of one field that are read.
const maxValues = 17

// texts appends each string of an array, or a single string, to a list.
func (o *object) texts(to *[]string) bool {
	switch o.b[o.i] {
	case '"':
		return o.addText(to)
	case '[':
		o.i++
	default:
		return o.skipValue()
	}
	for n, first := 0, true; ; n, first = n+1, false {
		more, ok := o.more(']', first)
		if !ok || !more {
			return ok
		}
		if o.b[o.i] == '"' && n < maxValues {
			ok = o.addText(to)
		} else {
			ok = o.skipValue()
		}
		if !ok {
			return false
		}
	}
}

// addText parses a string and appends it to a list.
func (o *object) addText(to *[]string) bool {
	b, ok := o.text()
	*to = append(*to, view(b))
	return ok
}
