package audit

import (
	"net/netip"
	"regexp"
	"strings"
)

// masker takes out of what a report shows the addresses of clients and the
// values of queries, unless the operator wants all.
type masker struct{ full bool }

// hidden stands for what is masked.
const hidden = "…"

// client masks an address: what is left of IPv4 is /24, of IPv6 /48. Nothing is
// left of a host's name.
func (m masker) client(s string) string {
	if m.full || s == "" || s == "-" {
		return strings.Clone(s)
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return hidden
	}
	bits := 48
	if addr = addr.Unmap().WithZone(""); addr.Is4() {
		bits = 24
	}
	p, _ := addr.Prefix(bits) // no error: bits are in range
	return p.String()
}

// maxShown is how many octets of a stranger's text are shown.
const maxShown = 500

// target masks the values of a query, and cuts what is too long.
func (m masker) target(s string) string {
	path, query, ok := strings.Cut(s, "?")
	if !ok || m.full {
		return shortened(s)
	}
	var b strings.Builder
	b.WriteString(path)
	for i, part := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		if i == 0 {
			b.WriteByte('?')
		} else {
			b.WriteByte('&')
		}
		if b.Len() > maxShown {
			break
		}
		name, _, ok := strings.Cut(part, "=")
		if !ok { // a value without a name
			name = ""
		} else {
			b.WriteString(name)
			b.WriteByte('=')
		}
		b.WriteString(hidden)
	}
	return shortened(b.String())
}

// shortened cuts what is too long, and keeps no memory of a line.
func shortened(s string) string {
	if len(s) <= maxShown {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:maxShown], "") + hidden
}

var (
	lineAddresses = regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){3,7}`)
	lineQueries   = regexp.MustCompile(`\?[^\s"]*`)
)

// maxExcerpt is how many octets of a line that can't be read are shown.
const maxExcerpt = 200

// line masks whatever in a line looks like an address or a query.
func (m masker) line(b []byte) string {
	b = b[:min(len(b), 4*maxExcerpt)]
	s := string(b)
	if !m.full {
		s = lineAddresses.ReplaceAllStringFunc(s, m.address)
		s = lineQueries.ReplaceAllString(s, "?"+hidden)
	}
	if len(s) > maxExcerpt {
		s = strings.ToValidUTF8(s[:maxExcerpt], "") + hidden
	}
	return s
}

// address masks what could be an address, or a time of day.
func (m masker) address(s string) string {
	if _, err := netip.ParseAddr(s); err == nil {
		return m.client(s)
	}
	if strings.Count(s, ".") == 3 {
		return hidden
	}
	return s
}
