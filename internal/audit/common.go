package audit

import (
	"bytes"
	"strings"
)

// commonLog parses the formats that Apache calls common and combined, and nginx calls
// combined. The virtual host may be before the line, after it, or missing.
//
//	[vhost] client ident user [time] "request" status octets ["referer" "user-agent" [more…]]
type commonLog struct {
	times timeParser
	// agents is true if the lines have a referer and a User-Agent.
	agents bool
	// more is the number of fields after them. hostAt says which of these is the
	// host, from 1; 0 if none is.
	more, hostAt int
	vhost        bool   // a line with the host before it was seen
	buf          []byte // of strings that had escapes
}

func (p *commonLog) hasAgents() bool { return p.agents }

func (p *commonLog) name() string {
	name := "common"
	if p.agents {
		name = "combined"
	}
	switch {
	case p.vhost:
		return "vhost-" + name
	case p.hostAt > 0:
		return name + "-vhost"
	}
	return name
}

func (p *commonLog) parse(line []byte, e *entry) problem {
	p.buf = p.buf[:0]
	end := bytes.Index(line, []byte(`] "`))
	if end < 0 {
		return cutOr(line, badRequest)
	}
	begin := bytes.LastIndexByte(line[:end], '[')
	if begin < 1 {
		return badTime
	}
	at, ok := p.times.common(line[begin+1 : end])
	if !ok {
		var last string
		if at, ok = p.times.parse(line[begin+1:end], &last); !ok {
			return badTime
		}
	}
	e.setTime(at)
	if !p.head(view(line[:begin]), e) {
		return unknownFormat
	}
	rest := line[end+len(`] "`):]
	request, rest, ok := p.request(rest)
	if !ok {
		return cutOr(line, badRequest)
	}
	e.status, rest = number3(rest)
	if e.status < 0 {
		return badStatus
	}
	rest = p.octets(rest, e)
	if pr := p.tail(rest, e); pr != fine {
		return pr
	}
	if !e.setRequestLine(request) {
		return noRequest
	}
	return fine
}

// cutOr returns cutOff for a line that seems to have been cut, else p.
func cutOr(line []byte, p problem) problem {
	if i := bytes.IndexByte(line, '['); i > 0 && i < 200 && bytes.Contains(line[:i], []byte(" ")) {
		return cutOff
	}
	if len(line) < 16 {
		return cutOff
	}
	return p
}

// head parses what is before the time: client, ident and user, with the host before
// them or not. The user may contain blanks. Behind proxies, a list of addresses may be
// in place of the client.
func (p *commonLog) head(s string, e *entry) bool {
	first, rest, _ := strings.Cut(s, " ")
	if first == "" {
		return false
	}
	second, third, _ := strings.Cut(rest, " ")
	switch {
	case isAddress(first) || strings.HasSuffix(first, ","):
		e.client = first
	case second == "-":
		if addr, user, _ := strings.Cut(third, " "); isAddress(addr) { // $host - $remote_addr
			e.host, e.client, third = first, addr, user
			p.vhost = true
			break
		}
		e.client = first
	case second != "" && third != "":
		e.host, e.client = first, second
		_, third, _ = strings.Cut(third, " ")
		p.vhost = true
	default:
		e.client = first
	}
	e.client, e.forwarded = strings.CutSuffix(e.client, ",") // the first address of a list
	user := strings.TrimRight(third, " ")
	e.authorized = user != "" && user != "-" && !e.forwarded
	return true
}

// isAddress reports whether s looks like an IP address.
func isAddress(s string) bool {
	colons, dots := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
		case c == '.':
			dots++
		case c == ':':
			colons++
		case 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F':
			if colons == 0 && i > 3 {
				return false
			}
		case c == '%' && colons > 1:
			return true
		default:
			return false
		}
	}
	return colons > 1 || dots == 3 && colons == 0 && s[len(s)-1] != '.'
}

// request parses the request line up to the quotation mark at its end. Because
// clients send such marks and some servers do not escape them, it looks for a mark
// with a blank and a status after it.
func (p *commonLog) request(b []byte) (string, []byte, bool) {
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return "", nil, false
		}
		i += n
		if rest := b[i+1:]; !escaped(b, i) && len(rest) > 1 && rest[0] == ' ' && (isDigit(rest[1]) || rest[1] == '-') {
			return p.unescape(b[:i]), rest[1:], true
		}
		i++
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// escaped reports whether there is an odd number of backslashes before b[i].
func escaped(b []byte, i int) bool {
	n := 0
	for i > n && b[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// number3 parses a status of three digits. It returns 0 for a hyphen, and -1 if there
// is no status.
func number3(b []byte) (int, []byte) {
	if len(b) > 0 && b[0] == '-' && (len(b) == 1 || b[1] == ' ') {
		return 0, b[1:]
	}
	i := 0
	n := digits(b, &i, 3)
	if n < 0 || i < len(b) && b[i] != ' ' {
		return -1, nil
	}
	return n, b[i:]
}

// octets parses the size of the response. A hyphen stands for 0.
func (p *commonLog) octets(b []byte, e *entry) []byte {
	if len(b) == 0 || b[0] != ' ' {
		return b
	}
	i := 1
	for i < len(b) && isDigit(b[i]) {
		if e.bytes < 1<<56 {
			e.bytes = e.bytes*10 + int64(b[i]-'0')
		}
		i++
	}
	if i == 1 && i < len(b) && b[i] == '-' {
		i++
	}
	return b[i:]
}

// tail parses what is after the size.
func (p *commonLog) tail(b []byte, e *entry) problem {
	if p.agents {
		if len(b) < 2 || b[0] != ' ' || b[1] != '"' {
			return cutOff
		}
		referer, rest, ok := p.quoted(b[2:])
		if !ok || len(rest) < 2 || rest[0] != ' ' || rest[1] != '"' {
			return cutOff
		}
		e.referer = referer
		var agent string
		switch rest = rest[2:]; {
		case p.more == 0: // all quotation marks but the last one belong to the User-Agent
			if n := len(rest); n == 0 || rest[n-1] != '"' || escaped(rest, n-1) {
				return cutOff
			}
			agent, b = p.unescape(rest[:len(rest)-1]), nil
		default:
			if agent, b, ok = p.quoted(rest); !ok {
				return cutOff
			}
		}
		e.setAgent(agent)
	}
	if p.hostAt > 0 {
		e.host = field(b, p.hostAt)
	}
	return fine
}

// quoted parses up to a quotation mark with a blank or the end of the line after it.
func (p *commonLog) quoted(b []byte) (string, []byte, bool) {
	for i := 0; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return "", nil, false
		}
		i += n
		if !escaped(b, i) && (i+1 == len(b) || b[i+1] == ' ') {
			return p.unescape(b[:i]), b[i+1:], true
		}
	}
}

// unescape decodes the escapes that Apache (\" \\ \n \xHH) and nginx (\xHH) write.
func (p *commonLog) unescape(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return view(b)
	}
	from := len(p.buf)
	p.buf = appendUnescaped(p.buf, b)
	return view(p.buf[from:])
}

func appendUnescaped(buf, b []byte) []byte {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c != '\\' || i+1 == len(b) {
			buf = append(buf, c)
			continue
		}
		i++
		switch control, ok := controlOctet(b[i]); {
		case ok:
			c = control
		case b[i] == 'v':
			c = '\v'
		case b[i] == 'x':
			if i+2 < len(b) {
				if h, l := hex(b[i+1]), hex(b[i+2]); h >= 0 && l >= 0 {
					c = byte(h<<4 | l)
					i += 2
					break
				}
			}
			buf = append(buf, '\\')
			c = 'x'
		default:
			c = b[i]
		}
		buf = append(buf, c)
	}
	return buf
}

// controlOctet returns the octet for the letter after a backslash: \n, \r, \t, \b or \f.
func controlOctet(letter byte) (octet byte, ok bool) {
	switch letter {
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	}
	return 0, false
}

func hex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
