package logformat

import (
	"strings"
	"time"
)

// Entry is one request of a log. Its strings share the memory of the line and of
// the parser. They are valid until the next line is parsed or the line's memory
// changes: clone the strings that you keep.
type Entry struct {
	At         int64 // time of the request in nanoseconds since 1970
	Timed      bool  // At is known
	Resolution int64 // of At, in nanoseconds
	Zoned      bool  // the time has a zone or is a Unix time
	Begun      bool  // At is the begin of the request; otherwise it may be the end

	Host   string // "" if the log does not have it
	Client string
	Method string
	Target string
	// UserAgents are the values of all User-Agent fields: one empty string for a request
	// without a User-Agent, and no value if the log does not have User-Agents.
	UserAgents []string
	Status     int   // 0 if the log does not have it
	Bytes      int64 // octets of the response
	Authorized bool  // the request has an Authorization field
	TLS        bool  // the connection used TLS
	HasFields  bool  // the log has the fields of the request
	// Fields are the values of the fields in FieldNames, in the same order.
	Fields [len(FieldNames)][]string
	// Remote and Port are the address and the port of the connection, if the log
	// has them. Behind a trusted proxy, Client is not the same as Remote.
	Remote, Port string
	Forwarded    bool // the request has fields that proxies and CDNs add
}

// Reset clears e and keeps its memory for the next request.
func (e *Entry) Reset() {
	agents, fields := e.UserAgents[:0], e.Fields
	*e = Entry{}
	e.UserAgents = agents
	for i := range fields {
		fields[i] = fields[i][:0]
	}
	e.Fields = fields
}

// setAgent adds the User-Agent of a request. A hyphen means that it has none.
func (e *Entry) setAgent(ua string) {
	if ua == "-" {
		ua = ""
	}
	e.UserAgents = append(e.UserAgents, ua)
}

// UserAgent returns the first User-Agent; "" if there is none.
func (e *Entry) UserAgent() string {
	if len(e.UserAgents) == 0 {
		return ""
	}
	return e.UserAgents[0]
}

// Time returns the time of the request.
func (e *Entry) Time() time.Time { return time.Unix(0, e.At).UTC() }

// setTime sets the time of the request.
func (e *Entry) setTime(s stamp) {
	e.At, e.Resolution, e.Zoned, e.Timed = s.at, s.resolution, s.zoned, true
}

// setRequestLine parses a request line. It returns false for a line that is not HTTP,
// such as the octets of a TLS handshake.
func (e *Entry) setRequestLine(line string) bool {
	method, target, _ := strings.Cut(line, " ")
	if method == "" || target == "" || strings.ContainsFunc(method, isNoMethod) {
		return false
	}
	e.Method, e.Target = method, target
	// The target of a hostile client may contain blanks.
	if n := strings.LastIndex(e.Target, " HTTP/"); n > 0 && len(e.Target)-n <= len(" HTTP/1.1") {
		e.Target = e.Target[:n]
	}
	return true
}

// isNoMethod reports whether a rune cannot be part of a method.
func isNoMethod(r rune) bool {
	return !('A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || r == '-' || r == '_')
}
