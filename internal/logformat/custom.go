package logformat

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// variables collects the values of a line by the names of nginx's variables. The
// columns of the W3C format have these names too, and date and time besides.
type variables struct {
	times                   *timeParser
	date, time              string
	uri, args               string
	forwarded, real, server string
	seconds                 float64 // the duration of the request
}

// pathVariables are the variables that have the path of a request.
var pathVariables = []string{"request", "request_uri", "uri", "document_uri"}

// set stores a value: raw is as it is in the line, text is without escapes. Variables
// without a case, here or in setText, are skipped.
func (v *variables) set(name string, raw []byte, text string, e *Entry) Problem {
	if text == "-" && name != "http_user_agent" {
		return None
	}
	switch name {
	case "time_local", "time_iso8601", "msec":
		s, ok := v.times.parse(raw)
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
	case "request_time", "request_time_ms", "request_time_us":
		v.setDuration(text, units[name], e)
	case "time_taken": // IIS writes milliseconds, others seconds with a fraction
		unit := 1e6
		if strings.Contains(text, ".") {
			unit = 1e9
		}
		v.setDuration(text, unit, e)
	case "body_bytes_sent", "bytes_sent":
		e.Bytes, _ = leadingNumber(raw)
	case "http_user_agent":
		e.setAgent(text)
	default:
		v.setText(name, text, e)
	}
	return None
}

// setText stores a value that is a text of any form.
func (v *variables) setText(name, text string, e *Entry) {
	switch name {
	case "date":
		v.date = text
	case "time":
		v.time = text
	case "http_referer":
		e.Referer = text
	case "sent_http_content_type":
		e.Media = text
	case "remote_addr":
		e.Client = text
	case "proxy_protocol_addr":
		e.Client = cmp.Or(e.Client, text)
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
	case "host", "http_host":
		e.Host = text
	case "server_name":
		v.server = text
	}
}

// units are the units of durations in nanoseconds.
var units = map[string]float64{"request_time": 1e9, "request_time_ms": 1e6, "request_time_us": 1e3}

// setDuration sets the duration of the request, which the log has in units of so many
// nanoseconds.
func (v *variables) setDuration(text string, unit float64, e *Entry) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		e.setDuration(n * unit)
		v.seconds = n * unit / 1e9
	}
}

// finish completes e with the values that belong together. It appends what it joins
// to buf.
func (v *variables) finish(e *Entry, buf *[]byte) Problem {
	join := func(a string, mark byte, b string) []byte {
		from := len(*buf)
		*buf = append(append(append(*buf, a...), mark), b...)
		return (*buf)[from:]
	}
	if v.date != "" || v.time != "" {
		at, ok := v.times.parse(join(v.date, ' ', v.time))
		if !ok {
			return badTime
		}
		e.setTime(at)
	}
	if e.Target == "" {
		if e.Target = v.uri; v.args != "" && v.uri != "" {
			e.Target = view(join(v.uri, '?', v.args))
		}
	}
	e.Client = cmp.Or(e.Client, v.real, v.forwarded)
	e.Host = cmp.Or(e.Host, v.server)
	e.Forwarded = v.forwarded != ""
	if e.Timed && v.seconds > 0 && v.seconds < 1e6 && e.Resolution < 1e9 { // the time in nginx's log is that of the end of a request
		e.At -= int64(v.seconds * 1e9)
		e.Begun = true
	}
	return None
}

// customLog parses the lines of a format that the operator describes in the notation
// of nginx's log_format.
type customLog struct {
	times  timeParser
	parts  []customPart
	agents bool
	buf    []byte
}

// customPart is a variable and the text after it. The first part has no variable.
type customPart struct {
	variable string
	literal  string
}

// variable matches a variable, with or without braces, and a $ without a name.
var variable = regexp.MustCompile(`\$(\{[^}]*\}|\w+)?`)

// Custom compiles a format in the notation of nginx's log_format. Times without a
// zone are in zone; nil means UTC. The error says what is wrong with the format.
func Custom(notation string, zone *time.Location) (*Format, error) {
	p := &customLog{times: timeParser{zone: zone}, parts: make([]customPart, 1)}
	seen := map[string]bool{}
	last := 0
	for _, at := range variable.FindAllStringSubmatchIndex(notation, -1) {
		before := &p.parts[len(p.parts)-1]
		before.literal = notation[last:at[0]]
		name := strings.Trim(notation[at[0]+1:at[1]], "{}")
		last = at[1]
		switch {
		case at[0]+1 == at[1] && strings.HasPrefix(notation[last:], "{"):
			return nil, errors.New("} is missing after ${")
		case at[0]+1 == at[1]:
			return nil, errors.New("the name of a variable is missing after $")
		case before.literal == "" && len(p.parts) > 1:
			return nil, fmt.Errorf("there is no text between $%s and $%s: put a blank or another character between them", before.variable, name)
		}
		p.parts = append(p.parts, customPart{variable: name})
		seen[name] = true
	}
	p.parts[len(p.parts)-1].literal = notation[last:]
	p.agents = seen["http_user_agent"]
	switch {
	case len(p.parts) > maxColumns:
		return nil, fmt.Errorf("it has %d variables: at most %d are allowed", len(p.parts)-1, maxColumns-1)
	case !slices.ContainsFunc(pathVariables, func(name string) bool { return seen[name] }):
		return nil, errors.New("it has no path: add $request or $request_uri")
	}
	return &Format{main: p}, nil
}

func (p *customLog) name() string    { return "custom" }
func (p *customLog) hasAgents() bool { return p.agents }

func (p *customLog) parse(line []byte, e *Entry) Problem {
	if len(line) == 0 {
		return NoRequest
	}
	p.buf = p.buf[:0]
	rest, ok := bytes.CutPrefix(line, []byte(p.parts[0].literal))
	if !ok {
		return unknownFormat
	}
	v := variables{times: &p.times}
	for i := range p.parts[1:] {
		part := &p.parts[i+1]
		end := p.end(rest, part, i+2 == len(p.parts))
		if end < 0 {
			return cutOff
		}
		value := rest[:end]
		rest = rest[end+len(part.literal):]
		if pr := v.set(part.variable, value, view(unescaped(value, &p.buf)), e); pr != None {
			return pr
		}
	}
	if pr := v.finish(e, &p.buf); pr != None {
		return pr
	}
	if e.Target == "" {
		return NoRequest
	}
	if p.agents && len(e.UserAgents) == 0 {
		e.setAgent("")
	}
	return None
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
