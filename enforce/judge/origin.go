package judge

import (
	"strconv"
	"strings"
)

// maxHost is the longest host of an origin, in octets: a domain name has at
// most 253 (RFC 1035, section 2.3.4). All longer hosts, which only broken or
// hostile clients send, share the origin with the host "".
const maxHost = 253

// Origin is the scheme, host and port of a request. A robots.txt applies to one
// origin (RFC 9309, section 2.3). Make an Origin with NewOrigin, so that
// different spellings of an origin are equal with ==.
type Origin struct {
	Scheme string // "http" or "https"
	Host   string // in lower case, without port and final dot; an IPv6 address has no brackets
	Port   uint16 // of the listener; 0 if it is not known
}

// NewOrigin returns the origin of a request. host is the value of the Host
// field or of :authority. A port in host is ignored, because the client can
// choose it; port is the port of the listener, or 0. NewOrigin allocates only
// if host has upper-case letters.
func NewOrigin(scheme, host string, port uint16) Origin {
	if !isPlainHost(host) {
		host = normalizeHost(host)
	}
	if len(host) > maxHost {
		host = ""
	}
	return Origin{Scheme: scheme, Host: host, Port: port}
}

// isPlainHost reports whether a host is already in normal form, as nearly all
// are: it has no upper-case letter, port, bracket or final dot.
func isPlainHost(host string) bool {
	for i := range len(host) {
		if c := host[i]; c == ':' || c == '[' || 'A' <= c && c <= 'Z' || c >= 0x80 {
			return false
		}
	}
	return !strings.HasSuffix(host, ".")
}

// normalizeHost removes port, brackets and final dot.
func normalizeHost(host string) string {
	if rest, ok := strings.CutPrefix(host, "["); ok {
		host, _, _ = strings.Cut(rest, "]")
	} else {
		host, _, _ = strings.Cut(host, ":")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// IsZero reports whether o is the zero Origin.
func (o Origin) IsZero() bool { return o == Origin{} }

// String returns the origin as a URL without a path. It omits the ports 80 and
// 443 for both schemes, because behind a proxy that terminates TLS, https
// arrives on port 80.
func (o Origin) String() string {
	host := o.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if o.Port != 0 && o.Port != 80 && o.Port != 443 {
		host += ":" + strconv.Itoa(int(o.Port))
	}
	return o.Scheme + "://" + host
}
