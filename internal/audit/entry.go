package audit

import (
	"strings"
	"time"
	"unsafe"
)

// entry is one request of a log. Its strings share the memory of the line and of the
// parser. They are valid until the next line is read, so that strings that are kept
// must be cloned.
type entry struct {
	at         int64 // time of the request in nanoseconds since 1970
	timed      bool  // at is known
	resolution int64 // of at, in nanoseconds
	zoned      bool  // the time has a zone or is a Unix time
	begun      bool  // at is the begin of the request; otherwise it may be the end

	host    string // "" if the log does not have it
	client  string
	method  string
	target  string
	referer string
	// agents are the values of all User-Agent fields: one empty string for a request
	// without a User-Agent, and no value if the log does not have User-Agents.
	agents     []string
	status     int   // 0 if the log does not have it
	bytes      int64 // octets of the response
	authorized bool  // the request has an Authorization field
	tls        bool  // the connection used TLS
	headers    bool  // the log has the fields of the request
	fields     requestFields
	// remote and port are the address and the port of the connection, if the log has
	// them. Behind a trusted proxy, client is not the same as remote.
	remote, port string
	forwarded    bool // the request has fields that proxies and CDNs add
}

// reset clears e and keeps its memory for the next request.
func (e *entry) reset() {
	agents, fields := e.agents[:0], e.fields
	*e = entry{}
	e.agents = agents
	for i := range fields {
		fields[i] = fields[i][:0]
	}
	e.fields = fields
}

// setAgent adds the User-Agent of a request. A hyphen means that it has none.
func (e *entry) setAgent(ua string) {
	if ua == "-" {
		ua = ""
	}
	e.agents = append(e.agents, ua)
}

// agent returns the first User-Agent.
func (e *entry) agent() string {
	if len(e.agents) == 0 {
		return ""
	}
	return e.agents[0]
}

func (e *entry) time() time.Time { return time.Unix(0, e.at).UTC() }

// setTime sets the time of the request.
func (e *entry) setTime(s stamp) {
	e.at, e.resolution, e.zoned, e.timed = s.at, s.resolution, s.zoned, true
}

// setRequestLine parses a request line. It returns false for a line that is not HTTP,
// such as the octets of a TLS handshake.
func (e *entry) setRequestLine(line string) bool {
	i := 0
	for i < len(line) && isMethodOctet(line[i]) {
		i++
	}
	if i == 0 || i+1 >= len(line) || line[i] != ' ' {
		return false
	}
	e.method, e.target = line[:i], line[i+1:]
	// The target of a hostile client may contain blanks.
	if n := strings.LastIndex(e.target, " HTTP/"); n > 0 && len(e.target)-n <= len(" HTTP/1.1") {
		e.target = e.target[:n]
	}
	return true
}

func isMethodOctet(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || c == '-' || c == '_'
}

// view returns b as a string that shares its memory.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// problem says why a line could not be read as a request.
type problem uint8

const (
	fine      problem = iota // no problem
	noRequest                // not the line of a request, and not an error
	tooLong
	hasNUL
	unknownFormat
	cutOff
	badTime
	badRequest
	badStatus
	badJSON
	badColumns
	noFields
	problems
)

var problemTexts = [problems]string{
	tooLong:       "longer than 1 MiB",
	hasNUL:        "has a NUL octet",
	unknownFormat: "does not have the format of the log",
	cutOff:        "ends too early",
	badTime:       "has no valid time",
	badRequest:    "has no valid request",
	badStatus:     "has no valid status",
	badJSON:       "is not valid JSON",
	badColumns:    "has more columns than #Fields",
	noFields:      "is before the first #Fields",
}

func (p problem) String() string { return problemTexts[p] }

// parser parses the lines of one format.
type parser interface {
	// parse parses a line without its line end into e, which has been reset.
	parse(line []byte, e *entry) problem
	// name returns the name of the format for the report.
	name() string
	// hasAgents reports whether the format has User-Agents.
	hasAgents() bool
}
