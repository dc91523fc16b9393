package routes

import (
	"net/netip"
	"slices"
	"strings"
)

// ByAddress returns the matcher of the route, or of one around it, by which requests from an
// address fare otherwise than those from the addresses that it lists, as text such as
// `not remote_ip 198.51.100.0/24`, and whether the address takes the route; "" if there is
// none, or it is not known.
func (r *Route) ByAddress(address netip.Addr) (matcher string, takes bool) {
	for ; r != nil; r = r.Around {
		sets := r.Sets()
		if len(sets) != 1 {
			continue
		}
		matcher = sets[0].without(address)
		if matcher != "" {
			return matcher, false
		}
		negated, _ := sets[0]["not"].([]Set)
		for _, set := range negated {
			matcher = set.without(address)
			if matcher != "" && len(set) == 1 {
				return "not " + matcher, true
			}
		}
	}
	return "", false
}

// without returns a matcher of s whose ranges don't have an address, as text; "" for none.
func (s Set) without(address netip.Addr) string {
	for _, name := range []string{"remote_ip", "client_ip"} {
		ranges := stringsOf(s[name])
		has := func(text string) bool {
			prefix := parseRange(text)
			return !prefix.IsValid() || prefix.Contains(address) // what is no range may have it
		}
		if len(ranges) == 0 || slices.ContainsFunc(ranges, has) {
			continue
		}
		text := name + " " + strings.Join(ranges[:min(len(ranges), 2)], " ")
		if len(ranges) > 2 {
			text += " …"
		}
		return text
	}
	return ""
}
