package logformat

import (
	"bytes"
	"cmp"
	"net"
	"strconv"
	"strings"
	"time"
)

// jsonLog parses logs with a JSON object on each line: Caddy's access logs, of versions
// 2.0 to 2.11 and also the lines of its console encoder, and those of an nginx whose
// log_format is JSON. It accepts every time_format, the names of nginx's variables and
// others that are usual for them, and fields that were renamed, removed, masked or hashed.
type jsonLog struct {
	times   timeParser
	nginx   bool   // the log is nginx's: a request needs no object "request"
	console bool   // the last line was from the console encoder
	timeKey string // the key of the time, if it is not one of the usual keys
	walk    object
	skipped int // the length of the prefix before the time of a console line
	texts   []string

	// The current line, and member and header.
	e                  *Entry
	line               jsonLine
	onMember, onHeader func(key []byte) bool
}

func (p *jsonLog) name() string {
	switch {
	case p.nginx:
		return "nginx-json"
	case p.console:
		return "caddy-console"
	}
	return "caddy-json"
}

// jsonLine is what is known of a line while it is parsed.
type jsonLine struct {
	access, other bool // its logger or message is that of access logs, or of other logs
	request       bool // it has an object "request"
	agent         bool // it has the User-Agent, or the fields of a request without one
	noHTTP        bool // its request line is that of another protocol
	level         int  // how certain it is that the member is the time: 1 to 3; 0: no time yet

	path, query string // nginx's $uri and $args
	real        string // the field X-Real-IP
	server      string // the name of the server
}

func (p *jsonLog) parse(line []byte, e *Entry) Problem {
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
	p.e, p.line = e, jsonLine{}
	if p.onMember == nil {
		p.onMember, p.onHeader = p.member, p.header
	}
	if begin > 0 && line[begin-1] == '\t' {
		p.head(line[:begin])
	}
	return p.object(line[begin:])
}

// head parses the columns that the console encoder writes before the object. The
// first one is the time.
func (p *jsonLog) head(b []byte) {
	e, l := p.e, &p.line
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
func (p *jsonLog) columnTime(b []byte) (stamp, bool) {
	if p.skipped < len(b) { // the prefixes of most lines are equally long
		if s, ok := p.times.parse(b[p.skipped:]); ok {
			return s, true
		}
	}
	for i := 0; i < len(b); i++ {
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
func (l *jsonLine) classify(text []byte) {
	switch {
	case bytes.HasPrefix(text, []byte("http.log.access")), string(text) == "handled request":
		l.access = true
	case bytes.HasPrefix(text, []byte("http.")), bytes.HasPrefix(text, []byte("tls")), bytes.HasPrefix(text, []byte("admin")):
		l.other = true
	}
}

// object parses the JSON object of a line.
func (p *jsonLog) object(b []byte) Problem {
	o := &p.walk
	o.b, o.i = b, 0
	ok := o.members(p.onMember)
	switch {
	case !ok && !bytes.HasSuffix(bytes.TrimRight(o.b, " \t\r"), []byte("}")):
		return cutOff
	case !ok:
		return badJSON
	}
	return p.finish()
}

// member parses one member of the line, or of its object "request".
func (p *jsonLog) member(key []byte) bool {
	e, l := p.e, &p.line
	o := &p.walk
	if i := bytes.LastIndexByte(key, '>'); i > 0 { // the key is a path such as request>headers>User-Agent
		if bytes.HasSuffix(key[:i], []byte("headers")) {
			return p.header(key[i+1:])
		}
		key = key[i+1:]
	}
	isObject := o.b[o.i] == '{'
	switch string(key) {
	case "request":
		if isObject && !l.request {
			l.request = true
			return o.members(p.onMember)
		}
	case "headers":
		if isObject {
			l.agent = true
			return o.members(p.onHeader)
		}
	case "robots":
		return o.raw(&e.Robots)
	case "resp_headers":
		return o.raw(&e.Response)
	case "common_log", "bytes_read", "error", "err_id", "err_trace":
		return o.skipValue()
	case "User-Agent", "user-agent", "user_agent", "UserAgent", "useragent", "ua", "http_user_agent", "agent":
		l.agent = true
		n := len(e.UserAgents)
		ok := o.texts(&e.UserAgents)
		if p.nginx && len(e.UserAgents) > n && e.UserAgents[n] == "-" {
			e.UserAgents[n] = ""
		}
		return ok
	}
	text, quoted, ok := o.scalar()
	if len(text) == 0 || string(text) == "-" {
		return ok
	}
	if !p.value(key, text) {
		if quoted {
			l.classify(text)
		}
		p.time(key, text)
	}
	return ok
}

// value stores the text or number of a member, and reports whether the member is known.
// Keys are Caddy's, nginx's variables, and usual names of these.
func (p *jsonLog) value(key, raw []byte) bool {
	e, l := p.e, &p.line
	text := view(raw)
	switch string(key) {
	case "status", "http_status", "status_code":
		n, _ := leadingNumber(raw)
		e.Status = int(min(n, 999))
	case "size", "bytes_written", "body_bytes_sent", "bytes_sent", "bytes":
		e.Bytes, _ = leadingNumber(raw)
	case "duration", "request_time":
		e.setJSONDuration(raw)
	case "request", "request_line":
		l.noHTTP = !e.setRequestLine(text)
	case "method", "request_method", "verb":
		e.Method = text
	case "request_uri":
		e.Target = text
	case "uri", "url", "path", "document_uri":
		l.path = text
	case "args", "query_string", "query":
		l.query = text
	case "host", "hostname", "vhost", "http_host":
		e.Host = text
	case "server_name":
		l.server = text
	case "client_ip", "client", "clientip", "ip":
		e.Client = text
	case "remote_ip", "remote_addr":
		var err error
		e.Remote, e.Port, err = net.SplitHostPort(text)
		if err != nil { // it has no port
			e.Remote = text
		}
	case "remote_port":
		e.Port = text
	case "http_x_real_ip":
		l.real = text
	case "http_x_forwarded_for", "x_forwarded_for":
		e.Forwarded = text
	case "http_referer", "referer", "referrer":
		e.Referer = text
	case "sent_http_content_type", "content_type":
		e.Media = text
	case "user_id", "remote_user", "user", "http_authorization":
		e.Authorized = true
	default:
		return false
	}
	return true
}

// time checks whether a member is the time: by its usual keys, else by the key under
// which a line before had it, else, in Caddy's logs, by its value.
func (p *jsonLog) time(key, text []byte) {
	l, level := &p.line, 1
	switch {
	case string(key) == "ts", string(key) == "msec":
		level = 3
	case string(key) == "time", string(key) == "timestamp", string(key) == "@timestamp", string(key) == "time_iso8601",
		string(key) == "time_local", string(key) == p.timeKey:
		level = 2
	case p.nginx || p.timeKey != "":
		return
	}
	if level <= l.level {
		return
	}
	if s, ok := p.times.parse(text); ok {
		p.e.setTime(s)
		l.level = level
		if level == 1 {
			p.timeKey = string(key)
		}
	}
}

// setJSONDuration parses the duration of a request: seconds with a fraction, or Go's
// notation. A large whole number is in nanoseconds. A small one may be in
// milliseconds or seconds, so that the duration is not known.
func (e *Entry) setJSONDuration(text []byte) {
	whole, _, fraction := bytes.Cut(text, []byte("."))
	seconds, err := strconv.ParseFloat(view(text), 64)
	switch {
	case err != nil:
		if d, err := time.ParseDuration(view(text)); err == nil {
			e.setDuration(float64(d))
		}
	case fraction && len(whole) < 8, string(text) == "0":
		e.setDuration(seconds * 1e9)
	case !fraction && len(whole) > 6 && len(whole) < 15:
		e.setDuration(seconds)
	}
}

// finish decides whether the line is a request, and completes e.
func (p *jsonLog) finish() Problem {
	e, l := p.e, &p.line
	if e.Target == "" && l.path != "" {
		e.Target = l.path
		if l.query != "" {
			from := len(p.walk.buf)
			p.walk.buf = append(append(append(p.walk.buf, l.path...), '?'), l.query...)
			e.Target = view(p.walk.buf[from:])
		}
	}
	switch {
	case p.nginx:
		if l.request || l.noHTTP || e.Target == "" || e.Status == 0 {
			return NoRequest
		}
	case l.access:
		if !l.request && e.Target == "" {
			return badRequest
		}
	case l.other, !l.request, e.Status == 0:
		return NoRequest
	}
	e.Host = cmp.Or(e.Host, l.server)
	if e.Method == "" && e.Target == "" && e.Host == "" {
		return badRequest
	}
	if problem := e.setClient(cmp.Or(e.Client, e.Remote, l.real, e.Forwarded)); problem != None {
		return problem
	}
	switch {
	case !l.agent:
		e.UserAgents = nil
	case len(e.UserAgents) == 0:
		e.UserAgents = append(e.UserAgents, "")
	}
	if e.Timed && e.Lasted && e.Resolution < int64(time.Second) { // the time of a request's end
		e.At -= e.Duration
		e.Begun = true
	}
	return None
}

// header parses one header field of the request.
func (p *jsonLog) header(name []byte) bool {
	e, o := p.e, &p.walk
	switch string(name[bytes.LastIndexByte(name, '>')+1:]) {
	case "User-Agent", "user-agent", "ua", "UA", "user_agent":
		p.line.agent = true
		return o.texts(&e.UserAgents)
	case "Authorization":
		e.Authorized = true
	case "Cookie":
		e.Cookie = true
	case "Sec-Purpose":
		e.Prefetch = true
	case "Sec-Fetch-Dest":
		return p.last(&e.Dest)
	case "Referer":
		return p.last(&e.Referer)
	case "X-Forwarded-For":
		return p.last(&e.Forwarded)
	}
	return o.skipValue()
}

// last parses the values of a field, and stores the last one.
func (p *jsonLog) last(to *string) bool {
	p.texts = p.texts[:0]
	ok := p.walk.texts(&p.texts)
	if n := len(p.texts); n > 0 {
		*to = p.texts[n-1]
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
