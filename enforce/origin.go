package enforce

import (
	"net"
	"strings"
)

// maxHost is the most octets of a Host field that name an origin: the 253 of
// a domain name (RFC 1035, section 2.3.4) and a port. A longer one, which
// only a broken or hostile client sends, shares the nameless origin.
const maxHost = 253 + len(":65535")

// Origin is where a request was sent: a robots.txt speaks for one scheme,
// host and port (RFC 9309, section 2.3). It is comparable; make it with
// NewOrigin, so that spellings of the same origin are equal.
type Origin struct {
	Scheme string // "http" or "https"
	Host   string // in lower case, with the port where it is not the scheme's own
}

// NewOrigin returns the origin of a request that named host, a Host field
// with or without a port, over TLS or not. It allocates only where host has
// upper-case letters.
func NewOrigin(tls bool, host string) Origin {
	scheme, port := "http", ":80"
	if tls {
		scheme, port = "https", ":443"
	}
	if len(host) > maxHost {
		return Origin{Scheme: scheme}
	}
	if isPlainHost(host) {
		return Origin{Scheme: scheme, Host: host}
	}
	host = strings.TrimSuffix(host, port)
	if name, rest, ok := strings.Cut(host, ".:"); ok {
		host = name + ":" + rest
	}
	return Origin{Scheme: scheme, Host: strings.ToLower(strings.TrimSuffix(host, "."))}
}

// isPlainHost reports whether a host is the only spelling of itself, as nearly
// all that arrive are: it has no upper-case letter, no port and no final dot.
func isPlainHost(host string) bool {
	for i := range len(host) {
		if c := host[i]; c == ':' || 'A' <= c && c <= 'Z' || c >= 0x80 {
			return false
		}
	}
	return !strings.HasSuffix(host, ".")
}

// String returns the origin as a URL without a path.
func (o Origin) String() string { return o.Scheme + "://" + o.Host }

// Hostname returns the host without its port.
func (o Origin) Hostname() string {
	if h, _, err := net.SplitHostPort(o.Host); err == nil {
		return h
	}
	return o.Host
}
