package logformat

import (
	"cmp"
	"strconv"
	"strings"
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
