package audit

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/visible"
)

// masker removes the addresses of clients and the values of queries from what a report
// shows, unless full is set.
type masker struct{ full bool }

// hidden stands in place of what is masked.
const hidden = "…"

// client masks an address to its /24 (IPv4) or /48 (IPv6). It hides a host name
// completely.
func (m masker) client(s string) string {
	if m.full || s == "" || s == "-" {
		return strings.Clone(s)
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return hidden
	}
	return visible.Network(addr).String()
}

// maxShown is the largest length of a target or User-Agent in the report, in octets.
const maxShown = 500

// target masks the values of a query, and shortens the target.
func (m masker) target(s string) string {
	path, query, ok := strings.Cut(s, "?")
	if !ok || m.full {
		return shortened(s)
	}
	var values []string
	for _, part := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, _, ok := strings.Cut(part, "=")
		if ok {
			name += "="
		} else { // a value without a name
			name = ""
		}
		values = append(values, name+hidden)
	}
	if len(values) > 0 {
		path += "?" + strings.Join(values, "&")
	}
	return shortened(path)
}

// shortened returns a copy of at most maxShown octets.
func shortened(s string) string {
	if len(s) <= maxShown {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:maxShown], "") + hidden
}

var (
	lineAddresses = regexp.MustCompile(`/?(?:\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){3,7})`)
	lineQueries   = regexp.MustCompile(`\?[^\s"]*`)
)

// maxExcerpt is the largest length of an unreadable line in the report, in octets.
const maxExcerpt = 200

// line masks everything in a line that looks like an address or a query.
func (m masker) line(b []byte) string {
	s := string(b[:min(len(b), 4*maxExcerpt)])
	if !m.full {
		s = lineAddresses.ReplaceAllStringFunc(s, m.address)
		s = lineQueries.ReplaceAllString(s, "?"+hidden)
	}
	if len(s) > maxExcerpt {
		s = strings.ToValidUTF8(s[:maxExcerpt], "") + hidden
	}
	return s
}

// address masks text that may be an address. Text after a slash is not one: it is the
// time after the year in [07/Nov/2026:12:00:00].
func (m masker) address(found string) string {
	_, err := netip.ParseAddr(found)
	switch {
	case found[0] == '/':
		return found
	case err == nil:
		return m.client(found)
	case strings.Count(found, ".") == 3:
		return hidden
	}
	return found
}
