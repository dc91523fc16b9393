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
		s = m.addresses(s)
		s = lineQueries.ReplaceAllString(s, "?"+hidden)
	}
	if len(s) > maxExcerpt {
		s = strings.ToValidUTF8(s[:maxExcerpt], "") + hidden
	}
	return s
}

// addresses masks what could be an address, and is no time behind a year.
func (m masker) addresses(s string) string {
	var b strings.Builder
	last := 0
	for _, at := range lineAddresses.FindAllStringIndex(s, -1) {
		found := s[at[0]:at[1]]
		b.WriteString(s[last:at[0]])
		last = at[1]
		_, err := netip.ParseAddr(found)
		switch {
		case at[0] > 0 && s[at[0]-1] == '/':
			b.WriteString(found)
		case err == nil:
			b.WriteString(m.client(found))
		case strings.Count(found, ".") == 3:
			b.WriteString(hidden)
		default:
			b.WriteString(found)
		}
	}
	return b.String() + s[last:]
}
