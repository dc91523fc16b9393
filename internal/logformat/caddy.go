package logformat

import (
	"bytes"
	"cmp"
	"math"
	"net"
	"strconv"
	"strings"
	"time"
)

// caddyLog parses Caddy's access logs: the JSON of versions 2.0 to 2.11 and the lines
// of the console encoder. It accepts every time_format, renamed keys, removed, masked
// or hashed fields.
type caddyLog struct {
	times    timeParser
	console  bool   // the last line was from the console encoder
	timeKey  string // the key of the time, if it is not one of the usual keys
	walk     object
	skipped  int // the length of the prefix before the time of a console line
	referers []string
}

func (p *caddyLog) name() string {
	if p.console {
		return "caddy-console"
	}
	return "caddy-json"
}

// hasAgents returns true. Whether the User-Agent was removed shows only in the lines.
func (p *caddyLog) hasAgents() bool { return true }

// caddyLine collects what decides whether a line is from an access log.
type caddyLine struct {
	access, other bool  // its logger or message is that of access logs, or of other logs
	request       bool  // it has a request
	agent         bool  // it has the User-Agent, or the fields of a request without one
	duration      int64 // nanoseconds; -1 if not known
	level         int   // how certain it is that the member is the time: 1 to 3; 0: no time yet
}

func (p *caddyLog) parse(line []byte, e *Entry) Problem {
	p.console = false
	begin := objectIn(line)
	if begin < 0 { // it is a log line of Caddy if it begins with a time
		if column, _, isFound := bytes.Cut(line, []byte("\t")); isFound {
			if _, ok := p.columnTime(column); ok {
				return NoRequest
			}
		}
		return badJSON
	}
	p.walk.buf = p.walk.buf[:0]
	l := caddyLine{duration: -1}
	if begin > 0 && line[begin-1] == '\t' {
		p.head(line[:begin], e, &l)
	}
	return p.object(line[begin:], e, &l)
}

// head parses the columns that the console encoder writes before the object. The
// first one is the time.
func (p *caddyLog) head(b []byte, e *Entry, l *caddyLine) {
	at, rest, _ := bytes.Cut(b, []byte("\t"))
	if isNumber(strings.TrimLeft(view(at), " ")) { // cat -n
		at, rest, _ = bytes.Cut(rest, []byte("\t"))
	}
	s, ok := p.columnTime(at)
	if !ok {
		return
	}
	p.console = true
	e.setTime(s)
	l.level = 3
	for len(rest) > 0 {
		var column []byte
		column, rest, _ = bytes.Cut(rest, []byte("\t"))
		l.classify(column)
	}
}

// columnTime parses the time in the first column, with prefixes before it or not.
func (p *caddyLog) columnTime(b []byte) (stamp, bool) {
	if p.skipped < len(b) { // the prefixes of most lines are equally long
		if s, ok := p.times.parse(b[p.skipped:]); ok {
			return s, true
		}
	}
	for i := 0; i < len(b); i++ {
		i += len(b) - i - len(withoutColours(view(b[i:])))
		if s, ok := p.times.parse(b[i:]); ok {
			p.skipped = i
			return s, true
		}
		n := bytes.IndexByte(b[i:], ' ')
		if n < 0 {
			break
		}
		i += n
	}
	return stamp{}, false
}

// classify finds out from the name of a logger, or from a message, whether a line is
// from an access log.
func (l *caddyLine) classify(text []byte) {
	switch {
	case bytes.HasPrefix(text, []byte("http.log.access")), string(text) == "handled request":
		l.access = true
	case bytes.HasPrefix(text, []byte("http.")), bytes.HasPrefix(text, []byte("tls")), bytes.HasPrefix(text, []byte("admin")):
		l.other = true
	}
}

// object parses the JSON object of a line.
func (p *caddyLog) object(b []byte, e *Entry, l *caddyLine) Problem {
	o := &p.walk
	o.b, o.i = b, 0
	ok := o.members(func(key []byte) bool { return p.member(key, e, l) })
	switch {
	case !ok && !bytes.HasSuffix(bytes.TrimRight(o.b, " \t\r"), []byte("}")):
		return cutOff
	case !ok:
		return badJSON
	}
	return p.finish(e, l)
}

// member parses one member of the outer object.
func (p *caddyLog) member(key []byte, e *Entry, l *caddyLine) bool {
	o := &p.walk
	switch string(key) {
	case "request":
		if o.b[o.i] != '{' {
			return o.skipValue()
		}
		l.request = true
		return o.members(func(key []byte) bool { return p.requestMember(lastSegment(key), e, l) })
	case "robots":
		from := o.i
		ok := o.skipValue()
		e.Robots = o.b[from:o.i]
		return ok
	case "resp_headers":
		from := o.i
		ok := o.skipValue()
		e.Response = o.b[from:o.i]
		return ok
	case "common_log", "bytes_read", "error", "err_id", "err_trace":
		return o.skipValue()
	case "status", "http_status", "status_code":
		n, ok := o.integer()
		e.Status = int(min(n, 999))
		return ok
	case "size", "bytes_written":
		n, ok := o.integer()
		e.Bytes = n
		return ok
	case "duration":
		return p.duration(l)
	case "user_id":
		text, _, ok := o.scalar()
		e.Authorized = e.Authorized || len(text) > 0
		return ok
	}
	if i := bytes.IndexByte(key, '>'); i > 0 { // the key is a path such as request>uri
		return p.requestMember(lastSegment(key), e, l)
	}
	text, quoted, ok := o.scalar()
	if quoted {
		l.classify(text)
	}
	p.time(key, text, e, l)
	return ok
}

// lastSegment returns the last element of a path such as request>headers>User-Agent.
func lastSegment(key []byte) []byte { return key[bytes.LastIndexByte(key, '>')+1:] }

// time checks whether a member is the time: by its usual keys, else by the key under
// which a line before had it, else by its value.
func (p *caddyLog) time(key, text []byte, e *Entry, l *caddyLine) {
	level := 1
	switch {
	case string(key) == "ts":
		level = 3
	case string(key) == "time", string(key) == "timestamp", string(key) == "@timestamp", string(key) == p.timeKey:
		level = 2
	case p.timeKey != "":
		return
	}
	if level <= l.level || len(text) == 0 {
		return
	}
	if s, ok := p.times.parse(text); ok {
		e.setTime(s)
		l.level = level
		if level == 1 {
			p.timeKey = string(key)
		}
	}
}

// integer parses a number and drops its fraction. It returns 0 for other values.
func (o *object) integer() (int64, bool) {
	text, _, ok := o.scalar()
	n, _ := leadingNumber(text)
	return n, ok
}

// duration parses the duration of a request: seconds with a fraction, or Go's
// notation. A large whole number is in nanoseconds. A small one may be in
// milliseconds or seconds, so that the duration is not known.
func (p *caddyLog) duration(l *caddyLine) bool {
	text, quoted, ok := p.walk.scalar()
	l.duration = -1
	whole, _, fraction := bytes.Cut(text, []byte("."))
	switch {
	case quoted:
		if d, err := time.ParseDuration(string(text)); err == nil {
			l.duration = int64(d)
		}
	case fraction && len(whole) < 8:
		if seconds, err := strconv.ParseFloat(view(text), 64); err == nil {
			l.duration = int64(math.Round(seconds * 1e9))
		}
	case !fraction && len(whole) > 6 && len(whole) < 15:
		l.duration = max(digits(whole), 0)
	case !fraction && string(whole) == "0":
		l.duration = 0
	}
	return ok
}

// finish decides whether the line is a request, and completes e.
func (p *caddyLog) finish(e *Entry, l *caddyLine) Problem {
	switch {
	case l.access:
		if !l.request && e.Target == "" {
			return badRequest
		}
	case l.other, !l.request, e.Status == 0:
		return NoRequest
	}
	if e.Method == "" && e.Target == "" && e.Host == "" {
		return badRequest
	}
	if problem := e.setClient(e.Client); problem != None {
		return problem
	}
	switch {
	case !l.agent:
		e.UserAgents = nil
	case len(e.UserAgents) == 0:
		e.UserAgents = append(e.UserAgents, "")
	}
	if l.duration >= 0 {
		e.setDuration(float64(l.duration))
	}
	if e.Timed && l.duration >= 0 && e.Resolution < int64(time.Second) {
		e.At -= l.duration
		e.Begun = true
	}
	return None
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
		l.agent = true
		return o.members(func(key []byte) bool { return p.header(lastSegment(key), e) })
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
		var err error
		if e.Remote, e.Port, err = net.SplitHostPort(address); err != nil { // it has no port
			e.Remote = address
		}
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

// string parses a string into to. It skips other values.
func (o *object) string(to *string) bool {
	if o.b[o.i] != '"' {
		return o.skipValue()
	}
	b, ok := o.text()
	*to = view(b)
	return ok
}

// header parses one header field of the request.
func (p *caddyLog) header(name []byte, e *Entry) bool {
	switch string(name) {
	case "User-Agent", "user-agent", "ua", "UA", "user_agent":
		return p.walk.texts(&e.UserAgents)
	case "Authorization":
		e.Authorized = true
		return p.walk.skipValue()
	case "Referer":
		return p.referer(e)
	}
	return p.field(name, e)
}

// referer parses the Referer fields. Only the first one counts.
func (p *caddyLog) referer(e *Entry) bool {
	p.referers = p.referers[:0]
	ok := p.walk.texts(&p.referers)
	if len(p.referers) > 0 {
		e.Referer = p.referers[0]
	}
	return ok
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
