package logformat

import (
	"bytes"
	"net/url"
	"strings"
)

// w3cLog parses the Extended Log File Format of the W3C, which IIS and CloudFront write:
// https://www.w3.org/TR/WD-logfile. Its times are in UTC.
type w3cLog struct {
	columns []w3cColumn // of the last #Fields
	agents  bool
	buf     []byte
}

// w3cColumn says what a column of a line contains.
type w3cColumn uint8

const (
	w3cIgnored w3cColumn = iota
	w3cDate
	w3cTime
	w3cClient
	w3cMethod
	w3cStem
	w3cQuery
	w3cURI
	w3cStatus
	w3cBytes
	w3cAgent
	w3cHost
	w3cHostField // the field Host of the request
	w3cUser
	w3cForwarded
)

// w3cNames are the identifiers of columns in #Fields, in lower case.
var w3cNames = map[string]w3cColumn{
	"date": w3cDate, "time": w3cTime, "c-ip": w3cClient, "cs-method": w3cMethod, "cs-uri-stem": w3cStem, "cs-uri-query": w3cQuery,
	"cs-uri": w3cURI, "sc-status": w3cStatus, "sc-bytes": w3cBytes, "bytes": w3cBytes, "cs(user-agent)": w3cAgent, "c-user-agent": w3cAgent,
	"cs-host": w3cHostField, "cs(host)": w3cHostField, "x-host-header": w3cHostField,
	"cs-username": w3cUser, "x-forwarded-for": w3cForwarded,
	"cs(x-forwarded-for)": w3cForwarded,
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
	var date, timeOfDay, stem, query string
	rest := bytes.TrimRight(line, " ")
	for n, c := range p.columns {
		if len(rest) == 0 {
			if n == 0 {
				return NoRequest
			}
			return cutOff
		}
		var value []byte
		value, rest = w3cValue(rest, blank)
		if c == w3cIgnored || len(value) == 1 && value[0] == '-' && c != w3cAgent {
			continue
		}
		switch text := view(value); c {
		case w3cDate:
			date = text
		case w3cTime:
			timeOfDay = text
		case w3cStem:
			stem = text
		case w3cQuery:
			query = text
		default:
			p.column(c, text, e)
		}
	}
	if len(rest) > 0 {
		return badColumns
	}
	return p.finish(e, date, timeOfDay, stem, query)
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

// column stores the value of one column.
func (p *w3cLog) column(c w3cColumn, text string, e *Entry) {
	switch c {
	case w3cClient:
		e.Client = text
	case w3cForwarded:
		e.Forwarded = true
	case w3cMethod:
		e.Method = text
	case w3cURI:
		e.Target = text
	case w3cStatus:
		e.Status = -1
		if n, rest := number3([]byte(text)); len(rest) == 0 {
			e.Status = n
		}
	case w3cBytes:
		for i := 0; i < len(text) && isDigit(text[i]) && e.Bytes < 1<<56; i++ {
			e.Bytes = e.Bytes*10 + int64(text[i]-'0')
		}
	case w3cAgent:
		e.setAgent(p.decodeAgent(text))
	case w3cHostField:
		e.Host = text
	case w3cUser:
		e.Authorized = true
	}
}

// finish combines the values of several columns.
func (p *w3cLog) finish(e *Entry, date, timeOfDay, stem, query string) Problem {
	from := len(p.buf)
	p.buf = append(append(append(p.buf, date...), ' '), timeOfDay...)
	at, ok := timeParser{}.isoLike(p.buf[from:])
	if !ok {
		return badTime
	}
	at.zoned = true
	e.setTime(at)
	if stem != "" {
		from := len(p.buf)
		p.buf = append(p.buf, stem...)
		if query != "" {
			p.buf = append(append(p.buf, '?'), query...)
		}
		e.Target = view(p.buf[from:])
	}
	switch {
	case e.Status < 0:
		return badStatus
	case e.Method == "" && e.Target == "":
		return badRequest
	}
	return None
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
	p.columns = []w3cColumn{}
	p.agents = false
	for name := range bytes.FieldsSeq(line[len(fields):]) {
		if len(p.columns) == maxColumns {
			break
		}
		c := w3cNames[strings.ToLower(string(name))]
		p.columns = append(p.columns, c)
		p.agents = p.agents || c == w3cAgent
	}
}
