package audit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// customLog reads the lines of a format that the operator describes in the
// notation of nginx's log_format.
type customLog struct {
	zone   zoneOf
	parts  []customPart
	agents bool
	json   bool // the format's own escape: JSON's
	layout string
	buf    []byte
}

// customPart is a variable and the text behind it. The first one has no
// variable.
type customPart struct {
	variable string
	literal  string
}

// customVariables are the variables whose values are used. Others are skipped.
var customVariables = map[string]bool{
	"remote_addr": true, "realip_remote_addr": true, "http_x_forwarded_for": true, "http_x_real_ip": true, "proxy_protocol_addr": true,
	"remote_user": true, "time_local": true, "time_iso8601": true, "msec": true, "request": true, "request_method": true, "request_uri": true,
	"uri": true, "document_uri": true, "args": true, "query_string": true, "status": true, "body_bytes_sent": true, "bytes_sent": true,
	"http_referer": true, "http_user_agent": true, "host": true, "http_host": true, "server_name": true, "request_time": true,
	"http_authorization": true,
}

// newCustomLog compiles a format. An error says what is wrong with it.
func newCustomLog(format string, zone zoneOf) (*customLog, error) {
	p := &customLog{zone: zone, json: strings.HasPrefix(strings.TrimSpace(format), "{")}
	rest := format
	part := customPart{}
	seen := map[string]bool{}
	for {
		text, after, found := strings.Cut(rest, "$")
		part.literal = text
		p.parts = append(p.parts, part)
		if !found {
			break
		}
		name, after, err := variableName(after)
		if err != nil {
			return nil, err
		}
		if text == "" && len(p.parts) > 1 {
			return nil, fmt.Errorf("nothing stands between $%s and $%s, so that nobody can tell them apart", part.variable, name)
		}
		part = customPart{variable: name}
		seen[name] = true
		rest = after
	}
	p.agents = seen["http_user_agent"]
	switch {
	case len(p.parts) > maxColumns:
		return nil, fmt.Errorf("more than %d variables", maxColumns)
	case !seen["request"] && !seen["request_uri"] && !seen["uri"] && !seen["document_uri"]:
		return nil, errors.New("has neither $request nor $request_uri")
	}
	return p, nil
}

// variableName reads a name, with braces around it or not.
func variableName(s string) (name, rest string, err error) {
	if inner, ok := strings.CutPrefix(s, "{"); ok {
		name, rest, ok = strings.Cut(inner, "}")
		if !ok {
			return "", "", errors.New("${ without }")
		}
		return name, rest, nil
	}
	i := 0
	for i < len(s) && (s[i] == '_' || isDigit(s[i]) || 'a' <= s[i] && s[i] <= 'z' || 'A' <= s[i] && s[i] <= 'Z') {
		i++
	}
	if i == 0 {
		return "", "", errors.New("$ without a name")
	}
	return s[:i], s[i:], nil
}

func (p *customLog) name() string    { return "custom" }
func (p *customLog) hasAgents() bool { return p.agents }

// customValues are values that go together.
type customValues struct {
	uri, args, forwarded, real, host string
	agent                            string
	seconds                          float64
}

func (p *customLog) parse(line []byte, e *entry) problem {
	if len(line) == 0 {
		return noRequest
	}
	p.buf = p.buf[:0]
	rest, ok := bytes.CutPrefix(line, []byte(p.parts[0].literal))
	if !ok {
		return unknownFormat
	}
	var v customValues
	for i := range p.parts[1:] {
		part := &p.parts[i+1]
		end := p.end(rest, part, i+2 == len(p.parts))
		if end < 0 {
			return cutOff
		}
		value := rest[:end]
		rest = rest[end+len(part.literal):]
		if !customVariables[part.variable] {
			continue
		}
		if pr := p.value(part.variable, value, e, &v); pr != fine {
			return pr
		}
	}
	return p.finish(e, &v)
}

// end finds the text behind a variable. The last one reaches to the end of the
// line, and what stands in quotation marks goes over those that are escaped.
func (p *customLog) end(b []byte, part *customPart, last bool) int {
	if part.literal == "" {
		return len(b)
	}
	if last {
		if !bytes.HasSuffix(b, []byte(part.literal)) {
			return -1
		}
		return len(b) - len(part.literal)
	}
	for i := 0; ; i++ {
		n := bytes.Index(b[i:], []byte(part.literal))
		if n < 0 {
			return -1
		}
		i += n
		if part.literal[0] != '"' || !escaped(b, i) {
			return i
		}
	}
}

func (p *customLog) text(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return view(b)
	}
	from := len(p.buf)
	if p.json {
		o := object{b: append(append([]byte{'"'}, b...), '"')}
		if text, ok := o.text(); ok {
			p.buf = append(p.buf, text...)
			return view(p.buf[from:])
		}
	}
	p.buf = appendUnescaped(p.buf, b)
	return view(p.buf[from:])
}

func (p *customLog) value(name string, b []byte, e *entry, v *customValues) problem {
	switch name {
	case "time_local", "time_iso8601", "msec":
		s, ok := p.zone.any(b, &p.layout)
		if !ok {
			return badTime
		}
		if !e.timed || s.resolution < e.resolution {
			e.setTime(s)
		}
	case "request":
		if !e.setRequestLine(p.text(b)) {
			return noRequest
		}
	case "status":
		n, rest := number3(b)
		if n < 0 || len(rest) > 0 {
			return badStatus
		}
		e.status = n
	case "request_time":
		v.seconds = seconds(b)
	default:
		p.plain(name, p.text(b), e, v)
	}
	return fine
}

// plain notes a value that can't be wrong.
func (p *customLog) plain(name, text string, e *entry, v *customValues) {
	if text == "-" && name != "http_user_agent" {
		return
	}
	switch name {
	case "remote_addr", "proxy_protocol_addr":
		if e.client == "" || name == "remote_addr" {
			e.client = text
		}
	case "http_x_forwarded_for":
		v.forwarded, _, _ = strings.Cut(text, ",")
	case "http_x_real_ip":
		v.real = text
	case "remote_user", "http_authorization":
		e.authorized = text != ""
	case "request_method":
		e.method = text
	case "request_uri":
		e.target = text
	case "uri", "document_uri":
		v.uri = text
	case "args", "query_string":
		v.args = text
	case "body_bytes_sent", "bytes_sent":
		n := int64(0)
		for i := 0; i < len(text) && isDigit(text[i]) && n < 1<<56; i++ {
			n = n*10 + int64(text[i]-'0')
		}
		e.bytes = n
	case "http_referer":
		e.referer = text
	case "http_user_agent":
		v.agent = text
	case "host", "http_host":
		e.host = text
	case "server_name":
		v.host = text
	}
}

// seconds reads a number with a fraction; 0 if it is none.
func seconds(b []byte) float64 {
	n, unit := 0.0, 0.0
	for _, c := range b {
		switch {
		case c == '.' && unit == 0:
			unit = 1
		case !isDigit(c):
			return 0
		default:
			n = n*10 + float64(c&15)
			unit *= 10
		}
	}
	return n / max(unit, 1)
}

func (p *customLog) finish(e *entry, v *customValues) problem {
	if e.target == "" && v.uri != "" {
		from := len(p.buf)
		p.buf = append(p.buf, v.uri...)
		if v.args != "" {
			p.buf = append(append(p.buf, '?'), v.args...)
		}
		e.target = view(p.buf[from:])
	}
	if e.target == "" {
		return noRequest
	}
	if p.agents {
		e.setAgent(v.agent)
	}
	for _, other := range []string{v.real, v.forwarded} {
		if e.client == "" {
			e.client = other
		}
	}
	e.forwarded = v.forwarded != ""
	if e.host == "" {
		e.host = v.host
	}
	if e.timed && v.seconds > 0 && e.resolution < 1e9 { // nginx writes when a request ended
		e.at -= int64(v.seconds * 1e9)
		e.begun = true
	}
	return fine
}
