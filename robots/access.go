package robots

import (
	"io"
	"net/url"
	"strings"
)

// Allowed reports whether the crawler with the given product token may fetch a
// URL (see Group.Match). The URL is absolute, or a path with its query; any other
// text counts as a path (see Views.Reset). Allowed does not check whether the
// file applies to the host of the URL; use Covers for that.
func (f *File) Allowed(token, url string) bool { return f.Match(url, token).Allowed }

// Match returns the verdict on a URL for a crawler that obeys the given product
// tokens (see Group for their order). The URL is as for Allowed.
func (f *File) Match(url string, tokens ...string) Verdict { return f.Group(tokens...).Match(url) }

// Read reads a robots.txt file as Parse does. It reads at most one octet more
// than the limit (MaxSize, or the limit that WithMaxSize sets). If r returns an
// error, Read returns this error and a File with the lines that it read before.
func Read(r io.Reader, opts ...Option) (*File, error) {
	o := options{maxSize: MaxSize}
	for _, opt := range opts {
		opt(&o)
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(o.maxSize)+1))
	return Parse(data, opts...), err
}

// FromResponse returns the File that applies after an HTTP response to a
// request for /robots.txt (RFC 9309, section 2.3.1). It depends on the status:
//
//   - 200 to 299: the body.
//   - 400 to 499, and 300 to 399, which are redirects that were not followed
//     any further: the file is unavailable, and nothing is disallowed.
//   - Anything else, such as 500 to 599, and 0 for no response: the file is
//     unreachable, and everything is disallowed.
//
// While the file is unreachable, a crawler may use an older copy (section 2.4).
// Google counts 429 as unreachable.
func FromResponse(status int, body []byte, opts ...Option) *File {
	switch {
	case status >= 200 && status < 300:
		return Parse(body, opts...)
	case status >= 300 && status < 500:
		return Parse(nil, opts...)
	}
	return Parse([]byte("User-agent: *\nDisallow: /\n"), opts...)
}

// Location returns the URL of the robots.txt that applies to a page:
// /robots.txt at the same scheme, host and port (RFC 9309, section 2.3). The
// page is an absolute URL; ok is false if it has no scheme or no host.
func Location(page string) (location string, ok bool) {
	o, ok := originOf(page)
	if !ok {
		return "", false
	}
	return o + "/robots.txt", true
}

// Covers reports whether the robots.txt at the URL location applies to the URL
// page. This is so if both have the same scheme, host and port, and the path of
// location is /robots.txt. The comparison ignores the case of scheme and host,
// a default port, and a dot at the end of the host. Covers is false if one of
// them is not an absolute URL with a host.
func Covers(location, page string) bool {
	u, err := url.Parse(location)
	if err != nil || u.Path != "/robots.txt" {
		return false
	}
	a, okA := originOf(location)
	b, okB := originOf(page)
	return okA && okB && a == b
}

// originOf returns scheme, host and port of a URL, in lower case and without
// a default port.
func originOf(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Hostname() == "" {
		return "", false
	}
	scheme := strings.ToLower(u.Scheme)
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && port != defaultPorts[scheme] {
		host += ":" + port
	}
	return scheme + "://" + host, true
}

// defaultPorts are the default ports of the schemes for which robots.txt
// exists.
var defaultPorts = map[string]string{"http": "80", "https": "443", "ftp": "21"}
