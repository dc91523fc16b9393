package verify

import (
	"errors"
	"fmt"
	"math"
	"net/netip"

	"github.com/gaissmai/bart"
)

// Limits of the prefixes of a list, and of the number of addresses in all of
// them. A list with more addresses would not identify a crawler.
const (
	minBits4, minBits6 = 8, 20   // bits of a prefix, at least
	maxSize4           = 1 << 26 // addresses: four times as many as 17.0.0.0/8, the widest block that an operator documents
	maxSize6           = 1 << 47 // /64 networks: eight times as many as in a /20
)

// list is a published list of addresses. It is immutable.
type list struct {
	table        *bart.Lite
	count        int
	size4, size6 float64 // IPv4 addresses, IPv6 /64 networks; overlapping prefixes count twice
}

func (l *list) entries() int { return l.count }

// contains reports whether addr is in the list. addr must not be IPv4 in IPv6 form.
func (l *list) contains(addr netip.Addr) bool { return l.table.Contains(addr) }

// parseList parses a list, or only a part of it (see readPrefixes). It returns an error if the list is not plausible by
// itself or in comparison with old, the list in use, which may be nil.
func parseList(body []byte, part string, old *list) (*list, error) {
	prefixes, err := readPrefixes(body, part)
	if err != nil {
		return nil, err
	}
	l := &list{table: new(bart.Lite)}
	for _, p := range prefixes {
		if specialPrefixes.OverlapsPrefix(p) {
			return nil, fmt.Errorf("%s contains private or reserved addresses", p)
		}
		if p.Addr().Is4() {
			if p.Bits() < minBits4 {
				return nil, fmt.Errorf("%s is too wide: a prefix must have at least %d bits", p, minBits4)
			}
			l.size4 += math.Exp2(float64(32 - p.Bits()))
		} else {
			if p.Bits() < minBits6 {
				return nil, fmt.Errorf("%s is too wide: a prefix must have at least %d bits", p, minBits6)
			}
			l.size6 += math.Exp2(float64(64 - p.Bits()))
		}
		l.table.Insert(p)
	}
	l.count = l.table.Size()
	if l.size4 > maxSize4 || l.size6 > maxSize6 {
		return nil, errors.New("the prefixes contain too many addresses: the limits are 2^26 IPv4 addresses and 2^47 IPv6 /64 networks")
	}
	if old != nil && l.farFewer(old) {
		return nil, fmt.Errorf("the list has %d prefixes, far fewer than the list in use, which has %d", l.count, old.count)
	}
	return l, nil
}

// farFewer reports whether more than half of the prefixes and of the addresses are gone. Prefixes that were joined into wider ones have as
// many addresses as before.
func (l *list) farFewer(old *list) bool {
	return old.count >= 4 && l.count*2 < old.count && (l.size4*2 < old.size4 || l.size6*2 < old.size6)
}

// ListSize returns the number of prefixes of a published list of addresses. part
// is the fragment of its URL (see [CheckURL]). It returns an error if a Verifier
// would not accept the list.
func ListSize(body []byte, part string) (int, error) {
	l, err := parseList(body, part, nil)
	if err != nil {
		return 0, err
	}
	return l.count, nil
}
