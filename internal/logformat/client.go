package logformat

import (
	"net/netip"
	"strings"
)

// clientAddress returns the address of a client without what may stand around it: a port,
// brackets, quotation marks, a zone, further addresses of a list, or the prefix of an IPv4
// address in IPv6 form. ok is false if s is no address.
func clientAddress(s string) (addr string, ok bool) {
	if isIPv4(s) { // most logs
		return s, true
	}
	s, _, _ = strings.Cut(strings.Trim(s, `"'`), ",")
	if s == "" || strings.Trim(s, "0123456789abcdefABCDEF.:[]") != "" && !strings.Contains(s, "%") {
		return "", false
	}
	with, err := netip.ParseAddrPort(s)
	a := with.Addr()
	if err != nil {
		a, err = netip.ParseAddr(strings.Trim(s, "[]"))
	}
	return a.Unmap().WithZone("").String(), err == nil
}

// ForwardedClient returns the last address in X-Forwarded-For that is not a proxy's: those before it can
// be anything that the client wrote. If all are proxies', it is the first one. It returns "" if the log
// has none.
func (e *Entry) ForwardedClient(isProxy func(netip.Addr) bool) (client string) {
	for list, isMore := e.Forwarded, e.Forwarded != ""; isMore; {
		i := strings.LastIndexByte(list, ',')
		text, ok := clientAddress(strings.TrimSpace(list[i+1:]))
		if !ok {
			break
		}
		client = text
		addr, _ := netip.ParseAddr(text)
		list, isMore = list[:max(i, 0)], i > 0 && isProxy(addr)
	}
	return client
}

// isIPv4 reports whether s is an IPv4 address, without a port.
func isIPv4(s string) bool {
	if len(s) < len("0.0.0.0") || len(s) > len("255.255.255.255") || !isDigit(s[0]) {
		return false
	}
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.Is4()
}

// isPort reports whether s is empty, or a colon and a port.
func isPort(s string) bool {
	return s == "" || len(s) <= len(":65535") && s[0] == ':' && isNumber(s[1:])
}

// isNumber reports whether s consists of digits.
func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isAddress reports whether s is the address of a client in one of the forms of logs.
func isAddress(s string) bool {
	_, ok := clientAddress(s)
	return ok
}

// maxName is the largest length of a host's or client's name, in octets.
const maxName = 260

// setClient sets the client by what a log has in its place. What says that there is no
// client, as for requests over a Unix socket, leaves it empty. setClient returns badClient
// for what can be neither an address nor a name or a hash of one.
func (e *Entry) setClient(s string) Problem {
	e.Client = ""
	for strings.HasPrefix(s, "-,") { // of several fields the first one was not sent
		s = strings.TrimLeft(s[2:], " ")
	}
	if addr, ok := clientAddress(s); ok {
		e.Client = addr
		return None
	}
	name, _, _ := strings.Cut(s, ",")
	switch {
	case name == "", name == "-", name == "@", name == "unix:", name == "unknown":
		return None
	}
	if host, port, _ := strings.Cut(name, ":"); host != "" && isNumber(port) {
		name = host
	}
	inside := name
	if i := strings.IndexByte("[<({", name[0]); i >= 0 { // what a filter wrote in its place: [REDACTED]
		inside = strings.TrimSuffix(name[1:], "]>)}"[i:i+1])
	}
	if !isName(inside) {
		return badClient
	}
	e.Client = name
	return None
}

// isName reports whether s can stand for a client: a name, a masked address, a hash. A time,
// a tag, and what has the form of an address but is none, can not.
func isName(s string) bool {
	switch {
	case s == "", len(s) > maxName, strings.ContainsFunc(s, isNoName), isTime(s):
		return false
	case strings.Contains(s, ":"): // 2001:db8:x:x
		return strings.Count(s, ":") > 1 && strings.Trim(s, "0123456789abcdefABCDEF:.xX*") == "" && strings.ContainsAny(s, "xX*")
	}
	return strings.Count(s, ".") < 3 || strings.Trim(s, "0123456789.") != ""
}

// isTime reports whether a word is a date or a clock time.
func isTime(s string) bool {
	return strings.Trim(s, "0123456789:-/.,TZ+") == "" && strings.ContainsAny(s, ":-/")
}

// isNoName reports whether a rune is in nothing that stands for a client.
func isNoName(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'<>|[]{}(),;\\", r) }

// isHost reports whether s can be the host before the lines of a log: a name or an address,
// with or without a port.
func isHost(s string) bool {
	if isAddress(s) {
		return !strings.Contains(s, ",")
	}
	name, _, _ := strings.Cut(s, ":")
	return name != "" && len(s) <= maxName && isPort(s[len(name):]) && !isNumber(name) && !strings.ContainsFunc(name, isNoHost)
}

// isNoHost reports whether a rune is in no host name. Names in Unicode, and _ of nginx, are allowed.
func isNoHost(r rune) bool {
	return r < 0x80 && !isDigit(byte(r)) && !('a' <= r|0x20 && r|0x20 <= 'z') && r != '.' && r != '-' && r != '_' && r != '*'
}

// setTarget takes the host out of a request target in absolute form, which goes before any
// other host (RFC 9112, section 3.2.2), or in authority form (3.2.3).
func (e *Entry) setTarget() Problem {
	t := e.Target
	if t == "" || t[0] == '/' {
		return None
	}
	if e.Method == "CONNECT" {
		if isHost(t) {
			e.Host = t
		}
		return None
	}
	n := strings.Index(t, "://")
	if n <= 0 || strings.Trim(t[:n], schemeOctets) != "" {
		return None
	}
	authority, path := t[n+len("://"):], "/"
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority, path = authority[:i], authority[i:]
	}
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	switch {
	case host == "": // the Host field says it
	case !isHost(host):
		return badHost
	default:
		e.Host = host
	}
	if path[0] != '/' {
		path = "/" + path
	}
	e.Target = path
	return None
}

// schemeOctets are those of schemes of URLs.
const schemeOctets = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-."
