package logformat

import (
	"cmp"
	"strconv"
	"strings"
)

// nginxLog parses JSON lines of nginx's log_format: an object whose members have the names
// of nginx's variables, or other names that are usual for them.
type nginxLog struct {
	times timeParser
	walk  object
	// agents is true if a line had a member for the User-Agent.
	agents bool

	// Values of the last line that belong together.
	uri, args       string
	forwarded, real string
	server          string
}

// nginxNames are the variables of nginx by other names of their members.
var nginxNames = map[string]string{
	"remote_ip": "remote_addr", "client": "remote_addr", "client_ip": "remote_addr", "clientip": "remote_addr", "ip": "remote_addr",
	"time": "msec", "time_local": "msec", "time_iso8601": "msec", "timestamp": "msec", "@timestamp": "msec", "ts": "msec",
	"method": "request_method", "verb": "request_method", "request_line": "request",
	"url": "uri", "path": "uri", "document_uri": "uri", "query_string": "args", "query": "args",
	"status_code": "status", "bytes_sent": "body_bytes_sent", "bytes": "body_bytes_sent", "size": "body_bytes_sent",
	"user_agent": "http_user_agent", "useragent": "http_user_agent", "agent": "http_user_agent",
	"referer": "http_referer", "referrer": "http_referer", "http_host": "host", "vhost": "host",
	"x_forwarded_for": "http_x_forwarded_for", "content_type": "sent_http_content_type", "user": "remote_user",
}

func (p *nginxLog) name() string    { return "nginx-json" }
func (p *nginxLog) hasAgents() bool { return p.agents }

func (p *nginxLog) parse(line []byte, e *Entry) Problem {
	begin := objectIn(line)
	if begin < 0 {
		return badJSON
	}
	p.uri, p.args, p.forwarded, p.real, p.server = "", "", "", "", ""
	o := &p.walk
	o.b, o.i, o.buf = line, begin, o.buf[:0]
	problem := None
	ok := o.members(func(key []byte) bool {
		text, _, ok := o.scalar()
		if ok && problem == None && len(text) > 0 && string(text) != "-" {
			problem = p.set(view(key), text, e)
		} else if ok && (string(text) == "-" || len(text) == 0) && variableOf(view(key)) == "http_user_agent" {
			p.agents = true
		}
		return ok
	})
	switch {
	case !ok && !strings.HasSuffix(strings.TrimRight(view(line), " \t\r"), "}"):
		return cutOff
	case !ok:
		return badJSON
	case problem != None:
		return problem
	}
	return p.finish(e)
}

// variableOf returns the variable of nginx that a member stands for.
func variableOf(key string) string {
	if name := nginxNames[key]; name != "" {
		return name
	}
	return key
}

// set stores the value of a member. Members that stand for no variable below are skipped.
func (p *nginxLog) set(key string, raw []byte, e *Entry) Problem {
	text := view(raw)
	switch variableOf(key) {
	case "msec":
		s, ok := p.times.parse(raw)
		if !ok {
			return badTime
		}
		if !e.Timed || s.resolution < e.Resolution {
			e.setTime(s)
		}
	case "request":
		if !e.setRequestLine(text) {
			return NoRequest
		}
	case "status":
		n, rest := number3(raw)
		if n < 0 || len(rest) > 0 {
			return badStatus
		}
		e.Status = n
	case "request_time":
		if seconds, err := strconv.ParseFloat(text, 64); err == nil {
			e.setDuration(seconds * 1e9)
		}
	case "body_bytes_sent":
		e.Bytes, _ = leadingNumber(raw)
	case "http_user_agent":
		p.agents = true
		e.setAgent(text)
	case "http_referer":
		e.Referer = text
	case "sent_http_content_type":
		e.Media = text
	case "remote_addr":
		e.Client = text
	case "http_x_forwarded_for":
		p.forwarded = text
	case "http_x_real_ip":
		p.real = text
	case "remote_user", "http_authorization":
		e.Authorized = true
	case "request_method":
		e.Method = text
	case "request_uri":
		e.Target = text
	case "uri":
		p.uri = text
	case "args":
		p.args = text
	case "host":
		e.Host = text
	case "server_name":
		p.server = text
	}
	return None
}

// finish completes e with the values that belong together.
func (p *nginxLog) finish(e *Entry) Problem {
	if e.Target == "" && p.uri != "" {
		e.Target = p.uri
		if p.args != "" {
			from := len(p.walk.buf)
			p.walk.buf = append(append(append(p.walk.buf, p.uri...), '?'), p.args...)
			e.Target = view(p.walk.buf[from:])
		}
	}
	if e.Target == "" || e.Status == 0 {
		return NoRequest
	}
	if problem := e.setClient(cmp.Or(e.Client, p.real, p.forwarded)); problem != None {
		return problem
	}
	e.Host = cmp.Or(e.Host, p.server)
	if p.agents && len(e.UserAgents) == 0 {
		e.setAgent("")
	}
	if e.Timed && e.Lasted && e.Resolution < 1e9 { // the time of a request's end
		e.At -= e.Duration
		e.Begun = true
	}
	return None
}
