package audit

import (
	"strings"
	"time"
	"unsafe"
)

// entry is one request of a log. Its strings are views of the line and of its
// parser's scratch memory: they hold until the next line is read, and what is
// to be kept is cloned.
type entry struct {
	at    int64 // when the request came, or where the log does not say, ended; nanoseconds since 1970
	timed bool  // at is known
	// resolution is how fine at is, in nanoseconds.
	resolution int64
	zoned      bool // the time had a zone, or is one of Unix
	begun      bool // at is when the request came

	host    string // "" where the log has none
	client  string
	method  string
	target  string
	referer string
	// agents are the values of all User-Agent fields; an empty one for a request
	// without any. They are nil where the log does not tell.
	agents     []string
	status     int // 0 where the log does not say
	bytes      int64
	authorized bool // the request had an Authorization field
	tls        bool // it came over TLS
	headers    bool // the log has the request's fields
	fields     requestFields
	// remote is the address of the connection and port its port, where the log
	// has them; client is another one than remote behind a trusted proxy.
	remote, port string
	forwarded    bool // it came through a proxy or CDN, by fields of such
}

// reset makes e that of no request and keeps its memory.
func (e *entry) reset() {
	agents, fields := e.agents[:0], e.fields
	*e = entry{}
	e.agents = agents
	for i := range fields {
		fields[i] = fields[i][:0]
	}
	e.fields = fields
}

// setAgent notes the one User-Agent of a request. A hyphen stands for none.
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

// setTime notes when the request came.
func (e *entry) setTime(s stamp) {
	e.at, e.resolution, e.zoned, e.timed = s.at, s.resolution, s.zoned, true
}

// setRequestLine takes a request line apart. It reports false for one that is
// not of HTTP, such as the octets of a TLS handshake.
func (e *entry) setRequestLine(line string) bool {
	i := 0
	for i < len(line) && isMethodOctet(line[i]) {
		i++
	}
	if i == 0 || i+1 >= len(line) || line[i] != ' ' {
		return false
	}
	e.method, e.target = line[:i], line[i+1:]
	// The target of a hostile client can have blanks.
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

// problem is why a line could not be read as a request.
type problem uint8

const (
	fine      problem = iota
	noRequest         // it is none by design
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
	unknownFormat: "no format fits",
	cutOff:        "ends too early",
	badTime:       "has no valid time",
	badRequest:    "has no valid request",
	badStatus:     "has no valid status",
	badJSON:       "is no valid JSON",
	badColumns:    "has another number of columns than #Fields",
	noFields:      "comes before #Fields",
}

func (p problem) String() string { return problemTexts[p] }

// parser reads the lines of one format.
type parser interface {
	// parse reads a line, without its end, into e, which was reset.
	parse(line []byte, e *entry) problem
	// name is that of the format, for the report.
	name() string
	// hasAgents reports whether the format has User-Agents.
	hasAgents() bool
}
