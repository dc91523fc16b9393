package enforce

import (
	"strconv"
	"strings"
)

// maxHost is the most octets of a host name that name an origin: the 253 of a
// domain name (RFC 1035, section 2.3.4). A longer one, which only a broken or
// hostile client sends, shares the nameless origin.
const maxHost = 253

// Origin is where a request was sent: a robots.txt is for one scheme, host and
// port (RFC 9309, section 2.3). It is comparable; make it with NewOrigin, so
// that spellings of the same origin are equal.
type Origin struct {
	Scheme string // "http" or "https"
	Host   string // in lower case, without port and final dot; an IPv6 address without brackets
	Port   uint16 // of the listener; 0 if it is not known
}

// NewOrigin returns the origin of a request. The host is that of the Host
// field or of :authority; a port in it is ignored, because the client chooses
// it: port is that of the listener, or 0. NewOrigin allocates only where host
// has upper-case letters.
func NewOrigin(scheme, host string, port uint16) Origin {
	if !isPlainHost(host) {
		host = normalizeHost(host)
	}
	if len(host) > maxHost {
		host = ""
	}
	return Origin{Scheme: scheme, Host: host, Port: port}
}

// isPlainHost reports whether a host is in normal form already, as nearly all
// that arrive are: it has no upper-case letter, port, bracket or final dot.
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

// IsZero reports whether o names no origin at all.
func (o Origin) IsZero() bool { return o == Origin{} }

// String returns the origin as a URL without a path. The usual ports of http
// and https are left out: behind a proxy that ends TLS, https arrives on port
// 80.
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
