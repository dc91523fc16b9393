package logformat

import (
	"bytes"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// commonLog parses the formats that Apache calls common and combined, and nginx calls
// combined. The virtual host may be before the line, after it, or missing.
//
//	[vhost] client ident user [time] "request" status octets ["referer" "user-agent" [more…]]
type commonLog struct {
	times timeParser
	// agents is true if the lines have a referer and a User-Agent.
	agents bool
	// more is true if there are fields after them. hostAt says which of these is the
	// host, from 1, secondsAt which is the duration, and forwardedAt which is X-Forwarded-For; 0 if none
	// is.
	more                           bool
	hostAt, secondsAt, forwardedAt int
	vhost                          bool   // a line with the host before it was seen
	after                          []byte // what is after the size in the last line
	buf                            []byte // of strings that had escapes
}

func (p *commonLog) name() string {
	if p.agents {
		return "combined"
	}
	return "common"
}

func (p *commonLog) parse(line []byte, e *Entry) Problem {
	p.buf = p.buf[:0]
	end := bytes.Index(line, requestMark)
	if end < 0 {
		return cutOr(line, badRequest)
	}
	begin := bytes.LastIndexByte(line[:end], '[')
	if begin < 1 {
		return badTime
	}
	at, ok := p.times.parse(line[begin+1 : end])
	if !ok {
		return badTime
	}
	e.setTime(at)
	if problem := p.head(view(line[:begin]), e); problem != None {
		return problem
	}
	rest := line[end+len(requestMark):]
	request, rest, ok := p.quoted(rest, endsRequest)
	if !ok {
		return cutOr(line, badRequest)
	}
	e.Status, rest = number3(rest[1:])
	if e.Status < 0 {
		return badStatus
	}
	p.after = octets(rest, e)
	if pr := p.tail(p.after, e); pr != None {
		return pr
	}
	if !e.setRequestLine(request) {
		return NoRequest
	}
	return None
}

// cutOr returns cutOff for a line that seems to have been cut, else p.
func cutOr(line []byte, p Problem) Problem {
	if i := bytes.IndexByte(line, '['); i > 0 && i < 200 && bytes.Contains(line[:i], []byte(" ")) {
		return cutOff
	}
	if len(line) < 16 {
		return cutOff
	}
	return p
}

// head parses what is before the time: client, ident and user, with the host before
// them or not, and a prefix before all. The user may contain blanks.
func (p *commonLog) head(s string, e *Entry) Problem {
	first, rest, _ := strings.Cut(s, " ")
	addr, ok := clientAddress(first)
	if ok && rest == "- - " && len(first) == len(addr) { // most logs
		e.Client = addr
		return None
	}
	end := clientEnd(s)
	for header := headerEnd(s, end); header > 0; header = headerEnd(s, end) {
		s = s[header:]
		end = clientEnd(s)
	}
	if end < 0 {
		return badClient
	}
	user := strings.TrimSpace(s[end+len(" -"):])
	e.Authorized = user != "" && user != "-"
	before, _ := lastWord(s[:end])
	for rest, word := lastWord(before); strings.HasSuffix(word, ","); rest, word = lastWord(before) { // a list of proxies
		before = rest
	}
	if problem := e.setClient(withoutFile(strings.TrimSpace(s[len(before):end]), isIPv4)); problem != None {
		return problem
	}
	return p.host(before, e)
}

// host parses what is before the client: nothing, a host, or a prefix. After a prefix, a
// word that could be the name of the server or of a container is not taken for the host
// of a request.
func (p *commonLog) host(s string, e *Entry) Problem {
	before, host := lastWord(s)
	if host == "-" { // $host - $remote_addr
		before, host = lastWord(before)
	}
	isPrefixed := strings.TrimSpace(before) != ""
	if !isPrefixed && !isTime(host) {
		host = withoutFile(host, isHost)
	}
	switch {
	case !isHost(host), isPrefixed && isServer(before, host):
		return None
	case !p.vhost && isAddress(host) && !strings.Contains(host, "]") && (isIPv4(host) || strings.Count(host, ":") > 1):
		return twoAddresses
	}
	e.Host, p.vhost = host, true
	return None
}

// quoted parses up to a quotation mark that is not escaped and with whose rest ends
// agrees. Because clients send such marks and some servers do not escape them, the first
// mark may not be the end.
func (p *commonLog) quoted(b []byte, ends func(rest []byte) bool) (string, []byte, bool) {
	for i := 0; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return "", nil, false
		}
		i += n
		if rest := b[i+1:]; !escaped(b, i) && ends(rest) {
			return view(unescaped(b[:i], &p.buf)), rest, true
		}
	}
}

// endsRequest reports whether a blank and a status are at the beginning of b.
func endsRequest(b []byte) bool { return len(b) > 1 && b[0] == ' ' && (isDigit(b[1]) || b[1] == '-') }

// endsLine reports whether b is empty.
func endsLine(b []byte) bool { return len(b) == 0 }

// endsField reports whether b is empty or begins with a blank.
func endsField(b []byte) bool { return len(b) == 0 || b[0] == ' ' }

// octets parses the size of the response. A hyphen stands for 0.
func octets(b []byte, e *Entry) []byte {
	if len(b) == 0 || b[0] != ' ' {
		return b
	}
	n, rest := leadingNumber(b[1:])
	if len(rest) == len(b)-1 && len(rest) > 0 && rest[0] == '-' {
		rest = rest[1:]
	}
	e.Bytes = n
	return rest
}

// quotedField parses a blank and what quoted parses after it.
func (p *commonLog) quotedField(b []byte, ends func(rest []byte) bool) (string, []byte, bool) {
	if len(b) < 2 || b[0] != ' ' || b[1] != '"' {
		return "", nil, false
	}
	return p.quoted(b[2:], ends)
}

// tail parses what is after the size.
func (p *commonLog) tail(b []byte, e *Entry) Problem {
	if p.agents {
		referer, rest, ok := p.quotedField(b, endsField)
		if !ok {
			return cutOff
		}
		ends := endsField
		if !p.more { // all quotation marks but the last one belong to the User-Agent
			ends = endsLine
		}
		agent, rest, ok := p.quotedField(rest, ends)
		if !ok {
			return cutOff
		}
		e.setAgent(agent)
		if referer != "-" {
			e.Referer = referer
		}
		b = rest
	}
	if p.hostAt > 0 {
		e.Host = p.field(b, p.hostAt)
	}
	if p.secondsAt > 0 {
		if seconds, err := strconv.ParseFloat(p.field(b, p.secondsAt), 64); err == nil {
			e.setDuration(seconds * 1e9)
		}
	}
	if p.forwardedAt > 0 {
		e.Forwarded = p.field(b, p.forwardedAt)
	}
	return None
}

// widerLog parses the lines of a commonLog that has got more fields after the User-Agent in the middle of the
// log, as when the operator adds the duration.
type widerLog struct {
	now    *commonLog // nil without such lines
	sample [][]byte   // the first of them, at most enoughWider
}

// enoughWider is the number of lines from which on it is certain what they have.
const enoughWider = 64

// maxWider is the largest length of a line of the sample, in octets.
const maxWider = 4 << 10

func (w *widerLog) isSure() bool { return len(w.sample) == enoughWider }

// parse parses a line that main can't.
func (w *widerLog) parse(main parser, line []byte, e *Entry) Problem {
	narrow, ok := main.(*commonLog)
	if !ok || !narrow.agents || narrow.more {
		return cutOff
	}
	if w.now == nil {
		w.now = &commonLog{times: narrow.times, agents: true, more: true, vhost: narrow.vhost}
	}
	if p := w.now.parse(line, e); p != None || len(line) > maxWider {
		return p
	}
	w.sample = append(w.sample, bytes.Clone(line))
	w.now, _ = newCommonLog(w.sample, narrow.times)
	e.Reset()
	return w.now.parse(line, e)
}

// field returns the n-th field, from 1, of fields that are separated by blanks and may
// be in quotation marks.
func (p *commonLog) field(b []byte, n int) (f string) {
	for range n {
		b = bytes.TrimLeft(b, " ")
		if inside, isQuoted := bytes.CutPrefix(b, []byte(`"`)); isQuoted {
			if text, rest, ok := p.quoted(inside, endsField); ok {
				f, b = text, rest
				continue
			}
		}
		value, rest, _ := bytes.Cut(b, []byte(" "))
		f, b = view(value), rest
	}
	return f
}

// maxMore is the number of fields after the User-Agent that are checked for the host
// and the duration.
const maxMore = 16

// newCommonLog detects which variant of the format the lines of a sample have. fit is
// the number of lines that have the format.
func newCommonLog(sample [][]byte, times timeParser) (p *commonLog, fit int) {
	withAgent, withMore, hosted := 0, 0, 0
	var hosts, seconds, lists [maxMore + 1]likeness
	for _, line := range sample {
		try := commonLog{times: times, vhost: true} // what is before the time may be two addresses
		var e Entry
		if pr := try.parse(line, &e); pr != None && pr != NoRequest {
			continue
		}
		fit++
		if e.Host != "" && !isAddress(e.Host) {
			hosted++
		}
		rest := try.after
		if _, r, ok := try.quotedField(rest, endsField); ok {
			_, r, ok = try.quotedField(r, endsField)
			if ok {
				withAgent++
				rest = r
			}
		}
		if try.field(rest, 1) != "" {
			withMore++
		}
		for n := 1; n <= maxMore; n++ {
			f := try.field(rest, n)
			if hostName.MatchString(f) {
				hosts[n].add(1)
			}
			switch {
			case requestTime.MatchString(f):
				seconds[n].add(1)
			case f == "-": // of an answer from a cache
				seconds[n].add(0)
			}
			client := (&Entry{Forwarded: f}).ForwardedClient(netaddr.IsSpecial)
			addr, err := netip.ParseAddr(client)
			switch {
			case err == nil && !netaddr.IsSpecial(addr):
				lists[n].add(2)
			case f == "-", err == nil: // it may be the address of a server
				lists[n].add(1)
			}
		}
	}
	return &commonLog{
		times: times, agents: 2*withAgent > fit, more: 2*withMore > fit, vhost: hosted > fit/2,
		hostAt: usual(hosts[:], fit), secondsAt: usual(seconds[:], fit), forwardedAt: usual(lists[:], fit),
	}, fit
}

// likeness says in how many lines a field may be of a kind, and how much speaks for that.
type likeness struct{ lines, sum int }

func (l *likeness) add(n int) { l.lines, l.sum = l.lines+1, l.sum+n }

// usual returns the field for which most speaks of those that may be of a kind in nine of ten lines; 0 if none is.
func usual(fields []likeness, lines int) (best int) {
	for n, one := range fields {
		if one.lines*10 >= lines*9 && one.sum > fields[best].sum {
			best = n
		}
	}
	return best
}

// requestTime matches nginx's $request_time. Whole numbers can be anything.
var requestTime = regexp.MustCompile(`^\d+\.\d{3}$`)

// hostName matches what looks like a host name, and like nothing else that is usual in
// logs.
var hostName = regexp.MustCompile(`^(localhost|(?i:[a-z0-9.-]+\.([a-z]{2,}|xn--[a-z0-9-]*)))(:\d*)?$`)
