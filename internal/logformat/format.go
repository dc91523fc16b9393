package logformat

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Format parses the lines of one log. It is not safe for concurrent use.
type Format struct {
	main parser
	// others are tried on lines that main cannot parse, because the format may
	// change in the middle of a log.
	others []parser
	wider  widerLog // after main
	// enveloped is true if a line was in an envelope: the next one probably is, too.
	enveloped bool
	envelopes [maxEnvelopes]envelope
}

// parser parses the lines of one format.
type parser interface {
	// parse parses a line without its line end into e, which has been reset.
	parse(line []byte, e *Entry) Problem
	// name returns the name of the format for reports.
	name() string
}

// Detect returns the format of a log by a sample of its first lines, and nil if no
// known format fits. Times without a zone are in zone; nil means UTC. For an empty
// sample, it returns the combined format.
func Detect(sample [][]byte, zone *time.Location) *Format {
	times := timeParser{zone: zone}
	if len(sample) == 0 {
		return &Format{main: &commonLog{times: times, agents: true}}
	}
	lines := make([][]byte, len(sample))
	for i, line := range sample {
		lines[i] = trimmed(line)
	}
	parsers, fits := parsersFor(lines, times)
	if slices.Max(fits) == 0 {
		parsers, fits = parsersFor(contents(lines), times)
	}
	best := slices.Index(fits, slices.Max(fits))
	if fits[best] == 0 {
		return nil
	}
	return &Format{main: parsers[best], others: slices.Delete(slices.Clone(parsers), best, best+1)}
}

// Mismatch says what is before a line that would have a known format without it. It
// returns None for any other line.
func Mismatch(line []byte) Problem {
	f := Format{main: &commonLog{agents: true}}
	switch p := f.Parse(line, new(Entry)); p {
	case badClient, badHost, twoAddresses:
		return p
	}
	return None
}

// parsersFor returns the parsers, and how many lines of a sample each of them parses.
func parsersFor(sample [][]byte, times timeParser) (parsers []parser, fits []int) {
	common, fit := newCommonLog(sample, times)
	caddy, nginx := &jsonLog{times: times}, &jsonLog{times: times, nginx: true}
	return []parser{caddy, nginx, common}, []int{count(caddy, sample), count(nginx, sample), fit}
}

// count returns the number of lines of a sample that p parses as requests.
func count(p parser, sample [][]byte) int {
	n := 0
	var e Entry
	for _, line := range sample {
		e.Reset()
		if p.parse(line, &e) == None {
			n++
		}
	}
	return n
}

// Name returns the name of the format: caddy-json, caddy-console, common, combined or
// nginx-json. It may depend on the lines parsed so far.
func (f *Format) Name() string { return f.main.name() }

// Parse parses a line without its line end into e, which must have been reset.
func (f *Format) Parse(line []byte, e *Entry) Problem {
	line = trimmed(line)
	if len(line) == 0 {
		return NoRequest
	}
	if line[0] == 0 { // NUL octets are left if a rotation truncates a file that the server has open
		line = bytes.TrimLeft(line, "\x00")
		if len(line) == 0 {
			return NoRequest
		}
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return hasNUL
	}
	p := f.parse(line, e, 0)
	if p == None {
		p = e.setTarget()
	}
	return p
}

// parse parses a line that is in so many envelopes.
func (f *Format) parse(line []byte, e *Entry, depth int) Problem {
	if f.enveloped {
		if inner, ok := f.opened(line, depth); ok && f.parse(inner, e, depth+1) == None {
			return None
		}
		e.Reset()
	}
	p := f.main.parse(line, e)
	if p == None {
		return None
	}
	if inner, ok := f.opened(line, depth); ok {
		f.enveloped = true
		e.Reset()
		return f.parse(inner, e, depth+1)
	}
	if p == NoRequest {
		return p
	}
	for _, other := range f.others {
		e.Reset()
		if q := other.parse(line, e); q == None {
			return None
		}
	}
	e.Reset()
	if f.wider.parse(f.main, line, e) != None {
		return p
	}
	if f.wider.isSure() { // main's lines are read by it too
		f.main = f.wider.now
	}
	return None
}

// opened returns the line in an envelope.
func (f *Format) opened(line []byte, depth int) ([]byte, bool) {
	if depth == maxEnvelopes {
		return nil, false
	}
	return f.envelopes[depth].open(line)
}

// trimmed removes what terminals and editors add to a line: blanks around it, control
// sequences, a byte order mark.
func trimmed(line []byte) []byte {
	if bytes.IndexByte(line, '\x1b') >= 0 || bytes.IndexByte(line, '\xef') >= 0 {
		line = decoration.ReplaceAll(line, nil)
	}
	return bytes.TrimSpace(line)
}

// decoration is what terminals and editors add.
var decoration = regexp.MustCompile("\x1b\\[[0-9;]*m|\ufeff")

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
	// By these, robots with browsers' User-Agents are found.
	Cookie, Prefetch bool   // the request has a Cookie field, or says that it is for later
	Dest             string // Sec-Fetch-Dest; "" if it is not known
	// Remote and Port are the address and the port of the connection, if the log
	// has them. Behind a trusted proxy, Client is not the same as Remote.
	Remote, Port string
	// Forwarded is the list of addresses that proxies know of the client: see ForwardedClient.
	Forwarded string
	Media     string // Content-Type of the response, if the log has it in a column; else see ContentType
	Response  []byte // the JSON of the response's fields, if the log is Caddy's
	Robots    []byte // the JSON of the robots handler's decision, if the log is Caddy's
}

// Reset clears e and keeps its memory for the next request.
func (e *Entry) Reset() {
	agents := e.UserAgents[:0]
	*e = Entry{}
	e.UserAgents = agents
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

// ContentType returns the Content-Type of the response; "" if the log does not have it.
func (e *Entry) ContentType() string {
	if _, value, found := bytes.Cut(e.Response, []byte(`"Content-Type":`)); found {
		value = bytes.TrimLeft(value, " [\"") // other programs than Caddy write blanks
		return view(value[:max(0, bytes.IndexByte(value, '"'))])
	}
	return e.Media
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

// Problem says in words why a line could not be parsed as a request.
type Problem string

// The problems that callers distinguish.
const (
	None      Problem = ""                    // no problem
	NoRequest Problem = "is not of a request" // and not an error
	TooLong   Problem = "longer than 1 MiB"   // for callers that read lines of bounded length

	hasNUL       Problem = "has a NUL octet"
	badClient    Problem = "has no client where the log has it"
	badHost      Problem = "has no host where the log has it"
	twoAddresses Problem = "has two addresses, and does not say which is the client's"
	cutOff       Problem = "ends too early"
	badTime      Problem = "has no valid time"
	badRequest   Problem = "has no valid request"
	badStatus    Problem = "has no valid status"
	badJSON      Problem = "is not valid JSON"
)
