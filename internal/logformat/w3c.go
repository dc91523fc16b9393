package logformat

import (
	"bytes"
	"net/url"
	"strings"
)

// w3cLog parses the Extended Log File Format of the W3C, which IIS and CloudFront write:
// https://www.w3.org/TR/WD-logfile. Its times are in UTC.
type w3cLog struct {
	times   timeParser
	columns []string // variables of the last #Fields; "" for a column that is skipped
	agents  bool
	buf     []byte
}

// w3cVariables are the variables for the identifiers of columns in #Fields, in lower
// case.
var w3cVariables = map[string]string{
	"date": "date", "time": "time", "c-ip": "remote_addr", "cs-method": "request_method", "cs-uri-stem": "uri", "cs-uri-query": "args",
	"cs-uri": "request_uri", "sc-status": "status", "sc-bytes": "bytes_sent", "bytes": "bytes_sent", "cs(user-agent)": "http_user_agent",
	"c-user-agent": "http_user_agent", "cs-host": "host", "cs(host)": "host", "x-host-header": "host", "cs-username": "remote_user",
	"time-taken": "time_taken", "cs(referer)": "http_referer",
	"x-forwarded-for": "http_x_forwarded_for", "cs(x-forwarded-for)": "http_x_forwarded_for",
}

// maxColumns is the largest number of columns of a line.
const maxColumns = 128

func (p *w3cLog) name() string    { return "w3c" }
func (p *w3cLog) hasAgents() bool { return p.agents || p.columns == nil }

func (p *w3cLog) parse(line []byte, e *Entry) Problem {
	if len(line) > 0 && line[0] == '#' {
		p.directive(line)
		return NoRequest
	}
	if p.columns == nil {
		return noFields
	}
	p.buf = p.buf[:0]
	blank := byte(' ')
	if bytes.IndexByte(line, '\t') >= 0 {
		blank = '\t'
	}
	v := variables{times: &p.times}
	rest := bytes.TrimRight(line, " ")
	for n, name := range p.columns {
		if len(rest) == 0 {
			if n == 0 {
				return NoRequest
			}
			return cutOff
		}
		var value []byte
		value, rest = quotedValue(rest, blank)
		text := view(value)
		if name == "http_user_agent" {
			text = p.decodeAgent(text)
		}
		if pr := v.set(name, value, text, e); pr != None {
			return pr
		}
	}
	if len(rest) > 0 {
		return badColumns
	}
	if pr := v.finish(e, &p.buf); pr != None {
		return pr
	}
	e.Zoned = true
	switch {
	case !e.Timed:
		return badTime
	case e.Method == "" && e.Target == "":
		return badRequest
	}
	return None
}

// quotedValue parses one value, in quotation marks or not, and the blank after it. A
// mark within a value is doubled.
func quotedValue(b []byte, blank byte) (value, rest []byte) {
	for i := 1; b[0] == '"' && i < len(b); i++ {
		switch {
		case b[i] != '"':
		case i+1 == len(b) || b[i+1] == blank:
			return b[1:i], b[min(i+2, len(b)):]
		case b[i+1] == '"':
			i++
		default:
			i = len(b)
		}
	}
	value, rest, _ = bytes.Cut(b, []byte{blank})
	return value, rest
}

// decodeAgent decodes the blanks of a User-Agent: IIS writes + for a blank, CloudFront
// %20 (in old logs %2520).
func (p *w3cLog) decodeAgent(s string) string {
	if strings.Contains(s, " ") {
		return s
	}
	for range 2 {
		if strings.Contains(s, "%20") || strings.Contains(s, "%2520") {
			if u, err := url.PathUnescape(s); err == nil {
				s = u
			}
		}
	}
	if strings.Contains(s, " ") || !strings.Contains(s, "+") {
		return s
	}
	from := len(p.buf)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '+' && (i+1 == len(s) || s[i+1] != 'h' || i == 0 || s[i-1] != '+') { // the + of "+http:" after a blank is part of the User-Agent
			c = ' '
		}
		p.buf = append(p.buf, c)
	}
	return view(p.buf[from:])
}

// directive parses a line that begins with #. Only #Fields matters.
func (p *w3cLog) directive(line []byte) {
	const fields = "#fields:"
	if len(line) < len(fields) || !strings.EqualFold(view(line[:len(fields)]), fields) {
		return
	}
	p.columns = []string{}
	p.agents = false
	for name := range bytes.FieldsSeq(line[len(fields):]) {
		if len(p.columns) == maxColumns {
			break
		}
		variable := w3cVariables[strings.ToLower(string(name))]
		p.columns = append(p.columns, variable)
		p.agents = p.agents || variable == "http_user_agent"
	}
}
