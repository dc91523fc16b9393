package logformat

import (
	"math"
	"slices"
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
	Duration   int64 // of the request, in nanoseconds; 0 if the log does not have it
	Lasted     bool  // Duration is known
	Referer    string
	Authorized bool // the request has an Authorization field
	TLS        bool // the connection used TLS
	HasFields  bool // the log has the fields of the request
	// Fields are the values of the fields in FieldNames, in the same order.
	Fields [len(FieldNames)][]string
	// Remote and Port are the address and the port of the connection, if the log
	// has them. Behind a trusted proxy, Client is not the same as Remote.
	Remote, Port string
	Proto        string // of the connection, such as HTTP/3.0, if the log is Caddy's
	Forwarded    bool   // the request has fields that proxies and CDNs add
	Robots       []byte // the JSON of the robots handler's decision, if the log is Caddy's
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

// setDuration sets the duration of the request. An impossible one is ignored.
func (e *Entry) setDuration(nanos float64) {
	if nanos >= 0 && nanos < 1e6*1e9 {
		e.Duration, e.Lasted = int64(math.Round(nanos)), true
	}
}

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

// Indices in FieldNames and Entry.Fields.
const (
	Cookie = iota
	SecFetchSite
	SecFetchDest
	SecFetchMode
	SecFetchUser
	SecPurpose
	Purpose
	XMoz
	SecCHUA
	XForwardedFor
	XForwardedProto
)

// FieldNames are the request fields whose values an Entry has: those by which robots
// with browsers' User-Agents are found.
var FieldNames = [...]string{
	Cookie: "Cookie", SecFetchSite: "Sec-Fetch-Site", SecFetchDest: "Sec-Fetch-Dest", SecFetchMode: "Sec-Fetch-Mode",
	SecFetchUser: "Sec-Fetch-User",
	SecPurpose:   "Sec-Purpose", Purpose: "Purpose", XMoz: "X-Moz", SecCHUA: "Sec-Ch-Ua", XForwardedFor: "X-Forwarded-For",
	XForwardedProto: "X-Forwarded-Proto",
}

// fieldOf returns the index of a field in FieldNames; -1 if it is not there.
func fieldOf(name []byte) int { return slices.Index(FieldNames[:], view(name)) }

// Problem says in words why a line could not be parsed as a request.
type Problem string

// The problems that callers distinguish.
const (
	None      Problem = ""                    // no problem
	NoRequest Problem = "is not of a request" // and not an error
	TooLong   Problem = "longer than 1 MiB"   // for callers that read lines of bounded length

	hasNUL        Problem = "has a NUL octet"
	unknownFormat Problem = "does not have the format of the log"
	cutOff        Problem = "ends too early"
	badTime       Problem = "has no valid time"
	badRequest    Problem = "has no valid request"
	badStatus     Problem = "has no valid status"
	badJSON       Problem = "is not valid JSON"
	badColumns    Problem = "has more columns than #Fields"
	noFields      Problem = "is before the first #Fields"
)
