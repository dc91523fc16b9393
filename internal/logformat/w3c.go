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
		value, rest = w3cValue(rest, blank)
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

// w3cValue parses one value, in quotation marks or not.
func w3cValue(b []byte, blank byte) (value, rest []byte) {
	end := -1
	if b[0] == '"' {
		for i := 1; i < len(b); i++ {
			if b[i] == '"' {
				if i+1 < len(b) && b[i+1] == '"' {
					i++
					continue
				}
				end = i
				break
			}
		}
	}
	if end > 0 && (end+1 == len(b) || b[end+1] == blank) {
		value, rest = b[1:end], b[end+1:]
	} else {
		if end = bytes.IndexByte(b, blank); end < 0 {
			end = len(b)
		}
		value, rest = b[:end], b[end:]
	}
	if len(rest) > 0 {
		rest = rest[1:]
	}
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
