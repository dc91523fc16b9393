package verify

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/gaissmai/bart"
)

// A list may hold no prefix wider than these, and no more addresses in all: a
// longer list would not identify a crawler.
const (
	minBits4, minBits6 = 8, 20
	maxSize4           = 1 << 26 // addresses: four times 17.0.0.0/8, the widest block that a crawler was documented with
	maxSize6           = 1 << 47 // networks of 64 bits: eight times a /20
)

// list is a published list of addresses. It is immutable.
type list struct {
	table        *bart.Lite
	count        int
	size4, size6 float64 // IPv4 addresses, IPv6 networks of 64 bits; prefixes that overlap count twice
}

func (l *list) entries() int { return l.count }

// contains looks addr up, which is not IPv4 in IPv6 form.
func (l *list) contains(addr netip.Addr) bool { return l.table.Contains(addr) }

// parseList reads a list and checks that it is plausible, also in comparison
// with the one in use. A list that is not plausible is an error.
func parseList(r *response, old *list, _ time.Time) (*list, error) {
	prefixes, err := readPrefixes(r.body)
	if err != nil {
		return nil, err
	}
	l := &list{table: new(bart.Lite)}
	for _, p := range prefixes {
		if specials.OverlapsPrefix(p) {
			return nil, fmt.Errorf("%s is private or reserved", p)
		}
		if p.Addr().Is4() {
			if p.Bits() < minBits4 {
				return nil, fmt.Errorf("%s is far too wide", p)
			}
			l.size4 += math.Exp2(float64(32 - p.Bits()))
		} else {
			if p.Bits() < minBits6 {
				return nil, fmt.Errorf("%s is far too wide", p)
			}
			l.size6 += math.Exp2(float64(64 - p.Bits()))
		}
		l.table.Insert(p)
	}
	l.count = l.table.Size()
	if l.size4 > maxSize4 || l.size6 > maxSize6 {
		return nil, errors.New("the prefixes hold far too many addresses")
	}
	if old != nil && l.farFewer(old) {
		return nil, fmt.Errorf("%d prefixes, far fewer than the %d before", l.count, old.count)
	}
	return l, nil
}

// farFewer reports whether most of the prefixes are gone and were not just joined into wider ones.
func (l *list) farFewer(old *list) bool {
	return old.count >= 4 && l.count*2 < old.count && (l.size4*2 < old.size4 || l.size6*2 < old.size6)
}
