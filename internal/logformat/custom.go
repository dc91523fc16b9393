package logformat

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// customLog parses the lines of a format that the operator describes in the notation
// of nginx's log_format.
type customLog struct {
	times  timeParser
	parts  []customPart
	agents bool
	json   bool // the format is a JSON object, so that values have JSON escapes
	layout string
	buf    []byte
}

// customPart is a variable and the text after it. The first part has no variable.
type customPart struct {
	variable string
	literal  string
}

// customVariables are the variables whose values are used. Others are skipped.
var customVariables = map[string]bool{
	"remote_addr": true, "realip_remote_addr": true, "http_x_forwarded_for": true, "http_x_real_ip": true, "proxy_protocol_addr": true,
	"remote_user": true, "time_local": true, "time_iso8601": true, "msec": true, "request": true, "request_method": true, "request_uri": true,
	"uri": true, "document_uri": true, "args": true, "query_string": true, "status": true, "body_bytes_sent": true, "bytes_sent": true,
	"http_user_agent": true, "host": true, "http_host": true, "server_name": true, "request_time": true,
	"http_authorization": true,
}

// newCustomLog compiles a format. The error says what is wrong with it.
func newCustomLog(format string, times timeParser) (*customLog, error) {
	p := &customLog{times: times, json: strings.HasPrefix(strings.TrimSpace(format), "{")}
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
			return nil, fmt.Errorf("there is no text between $%s and $%s: put a blank or another character between them", part.variable, name)
		}
		part = customPart{variable: name}
		seen[name] = true
		rest = after
	}
	p.agents = seen["http_user_agent"]
	switch {
	case len(p.parts) > maxColumns:
		return nil, fmt.Errorf("it has %d variables: at most %d are allowed", len(p.parts)-1, maxColumns-1)
	case !seen["request"] && !seen["request_uri"] && !seen["uri"] && !seen["document_uri"]:
		return nil, errors.New("it has no path: add $request or $request_uri")
	}
	return p, nil
}

// variableName parses the name of a variable, with or without braces.
func variableName(s string) (name, rest string, err error) {
	if inner, ok := strings.CutPrefix(s, "{"); ok {
		name, rest, ok = strings.Cut(inner, "}")
		if !ok {
			return "", "", errors.New("} is missing after ${")
		}
		return name, rest, nil
	}
	i := 0
	for i < len(s) && (s[i] == '_' || isDigit(s[i]) || 'a' <= s[i] && s[i] <= 'z' || 'A' <= s[i] && s[i] <= 'Z') {
		i++
	}
	if i == 0 {
		return "", "", errors.New("the name of a variable is missing after $")
	}
	return s[:i], s[i:], nil
}

func (p *customLog) name() string    { return "custom" }
func (p *customLog) hasAgents() bool { return p.agents }

// customValues are values that finish combines or chooses from.
type customValues struct {
	uri, args, forwarded, real, host string
	agent                            string
	seconds                          float64
}

func (p *customLog) parse(line []byte, e *Entry) Problem {
	if len(line) == 0 {
		return NoRequest
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
		if pr := p.value(part.variable, value, e, &v); pr != None {
			return pr
		}
	}
	return p.finish(e, &v)
}

// end returns the length of a variable's value: up to the text after the variable. For
// the last variable, that text must be the end of the line. An escaped quotation mark
// does not end a value.
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

// text decodes the escapes of a value.
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

// value parses a value that may be invalid.
func (p *customLog) value(name string, b []byte, e *Entry, v *customValues) Problem {
	switch name {
	case "time_local", "time_iso8601", "msec":
		s, ok := p.times.parse(b, &p.layout)
		if !ok {
			return badTime
		}
		if !e.Timed || s.resolution < e.Resolution {
			e.setTime(s)
		}
	case "request":
		if !e.setRequestLine(p.text(b)) {
			return NoRequest
		}
	case "status":
		n, rest := number3(b)
		if n < 0 || len(rest) > 0 {
			return badStatus
		}
		e.Status = n
	case "request_time":
		v.seconds = seconds(b)
	default:
		p.setText(name, p.text(b), e, v)
	}
	return None
}

// setText stores a value that cannot be invalid.
func (p *customLog) setText(name, text string, e *Entry, v *customValues) {
	if text == "-" && name != "http_user_agent" {
		return
	}
	switch name {
	case "remote_addr", "proxy_protocol_addr":
		if e.Client == "" || name == "remote_addr" {
			e.Client = text
		}
	case "http_x_forwarded_for":
		v.forwarded, _, _ = strings.Cut(text, ",")
	case "http_x_real_ip":
		v.real = text
	case "remote_user", "http_authorization":
		e.Authorized = text != ""
	case "request_method":
		e.Method = text
	case "request_uri":
		e.Target = text
	case "uri", "document_uri":
		v.uri = text
	case "args", "query_string":
		v.args = text
	case "body_bytes_sent", "bytes_sent":
		n := int64(0)
		for i := 0; i < len(text) && isDigit(text[i]) && n < 1<<56; i++ {
			n = n*10 + int64(text[i]-'0')
		}
		e.Bytes = n
	case "http_user_agent":
		v.agent = text
	case "host", "http_host":
		e.Host = text
	case "server_name":
		v.host = text
	}
}

// seconds parses a decimal number; it returns 0 for anything else.
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

// finish completes e with the values that belong together.
func (p *customLog) finish(e *Entry, v *customValues) Problem {
	if e.Target == "" && v.uri != "" {
		from := len(p.buf)
		p.buf = append(p.buf, v.uri...)
		if v.args != "" {
			p.buf = append(append(p.buf, '?'), v.args...)
		}
		e.Target = view(p.buf[from:])
	}
	if e.Target == "" {
		return NoRequest
	}
	if p.agents {
		e.setAgent(v.agent)
	}
	for _, other := range []string{v.real, v.forwarded} {
		if e.Client == "" {
			e.Client = other
		}
	}
	e.Forwarded = v.forwarded != ""
	if e.Host == "" {
		e.Host = v.host
	}
	if e.Timed && v.seconds > 0 && e.Resolution < 1e9 { // the time in nginx's log is that of the end of a request
		e.At -= int64(v.seconds * 1e9)
		e.Begun = true
	}
	return None
}
