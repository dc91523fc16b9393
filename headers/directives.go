package headers

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Directives is a set of directives of an X-Robots-Tag field or a robots meta
// tag, such as noindex. Two sets can be compared with ==. This compares names
// and values, and not meanings: "none" and "noindex, nofollow" are not equal.
// The zero value has no directives.
//
// In JSON it is a string, such as "noindex, nofollow".
type Directives struct {
	set set
	// values are those of the directives in valued, 0 without one. A smaller value
	// is more restrictive.
	values [len(valued)]int64
}

// valued are the directives with a value: characters, an index into imagePreviews,
// seconds, a date (see dateOf).
var valued = [...]set{maxSnippet, maxImagePreview, maxVideoPreview, unavailableAfter}

// allValued is the set of the directives that have a value.
const allValued = maxSnippet | maxImagePreview | maxVideoPreview | unavailableAfter

// noLimit is the value that is written as -1.
const noLimit = 1 << 31

// Empty reports whether d has no directives.
func (d Directives) Empty() bool { return d.set == 0 }

// Has reports whether d has the directive with that name, or a directive that
// includes it: the directive "none" includes "noindex" and "nofollow".
func (d Directives) Has(name string) bool { return d.set&lookup(name) != 0 }

// String returns the directives as an X-Robots-Tag value, in a fixed
// order, with dates in ISO 8601. ParseDirectives reads it back.
func (d Directives) String() string {
	shown := d.set
	if shown&noindex == 0 || shown&nofollow == 0 {
		shown &^= none
	}
	if shown&none != 0 {
		shown &^= noindex | nofollow
	}
	b := make([]byte, 0, 64)
	for ; shown != 0; shown &= shown - 1 {
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(b, vocabulary[bits.TrailingZeros32(uint32(shown))]...)
		switch i := slices.Index(valued[:], shown&-shown); {
		case i < 0:
		case valued[i] == maxImagePreview:
			b = append(append(b, ':'), imagePreviews[d.values[i]]...)
		case valued[i] == unavailableAfter:
			b = append(append(b, ": "...), formatDate(d.values[i])...)
		case d.values[i] == noLimit:
			b = append(b, ":-1"...)
		default:
			b = strconv.AppendInt(append(b, ':'), d.values[i], 10)
		}
	}
	return string(b)
}

// MarshalText returns the same text as String.
func (d Directives) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the text as ParseDirectives does.
func (d *Directives) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDirectives(string(text))
	return err
}

// validate returns an error for directives that are probably a mistake: no
// directives, directives that contradict each other, such as index and noindex,
// and indexifembedded without noindex, which has no effect (Google, robots meta
// tag specifications).
func (d Directives) validate() error {
	if d.set == 0 {
		return errors.New("no directive; write at least one, such as noindex")
	}
	for _, c := range contradictions {
		if d.set&c.permissive != 0 && d.set&c.restrictive != 0 {
			return fmt.Errorf("%s and %s contradict each other; keep the one that you mean", c.permissive.names()[0],
				(d.set & c.restrictive).names()[0])
		}
	}
	if d.set&nosnippet != 0 && d.values[0] != 0 {
		return fmt.Errorf("nosnippet and %s contradict each other; keep the one that you mean", d.keep(maxSnippet))
	}
	if d.set&indexifembedded != 0 && d.set&noindex == 0 {
		return errors.New("indexifembedded has no effect without noindex; write both or neither")
	}
	return nil
}

// restrict returns the directives for a crawler to which both d and e apply:
// all directives of both. If directives contradict each other, it keeps the
// more restrictive one. It is commutative, associative and idempotent.
func (d Directives) restrict(e Directives) Directives {
	r := d.join(e)
	if !d.embedded() || !e.embedded() {
		r.set &^= indexifembedded
	}
	return r.settle()
}

// join merges d and e as if they were one list. This matters for noindex in one
// and indexifembedded in the other: Google documents that it combines them.
func (d Directives) join(e Directives) Directives {
	for i, bit := range valued {
		if e.set&bit != 0 && (d.set&bit == 0 || e.values[i] < d.values[i]) {
			d.values[i] = e.values[i]
		}
	}
	d.set |= e.set
	return d
}

// embedded reports whether d allows to index a page as a part of another page
// that embeds it with an iframe.
func (d Directives) embedded() bool { return d.set&noindex == 0 || d.set&indexifembedded != 0 }

// settle drops directives that more restrictive directives of d override.
func (d Directives) settle() Directives {
	kept := d.set &^ d.set.overridden()
	if d.set&noindex == 0 {
		kept &^= indexifembedded
	}
	return d.keep(kept)
}

// keep returns the directives of d that are in s.
func (d Directives) keep(s set) Directives {
	d.set &= s
	for i, bit := range valued {
		if d.set&bit == 0 {
			d.values[i] = 0
		}
	}
	return d
}

// without returns the directives of d that u does not imply. u implies a
// directive if it has the same or a more restrictive one.
func (d Directives) without(u Directives) Directives {
	both := u.restrict(d)
	need := both.set &^ u.set
	for i, bit := range valued {
		if both.values[i] != u.values[i] {
			need |= both.set & bit
		}
	}
	if need&(noindex|nofollow) == 0 {
		need &^= none
	}
	return d.keep(need)
}

// overrides reports whether d forbids what the single directive one permits.
func (d Directives) overrides(one Directives) bool {
	if one.set == indexifembedded {
		return !d.embedded()
	}
	return d.restrict(one).keep(one.set) != one
}

// parseDirective parses a directive and its value, which is "" without one.
func parseDirective(name, value string) (d Directives, err error) {
	d.set = lookup(name)
	if d.set == 0 {
		return d, unknownDirective(name)
	}
	n, ok, want := int64(0), value == "", "takes no value"
	switch d.set {
	case none:
		d.set |= noindex | nofollow
	case maxSnippet, maxVideoPreview:
		want = "needs a whole number, such as 50; 0 means none, -1 means no limit"
		n, err = strconv.ParseInt(value, 10, 32)
		ok = err == nil && n >= -1 && value[0] != '+'
		if n == -1 {
			n = noLimit
		}
	case maxImagePreview:
		want = "must be none, standard or large"
		n = int64(slices.Index(imagePreviews, strings.ToLower(value)))
		ok = n >= 0
	case unavailableAfter:
		want = "needs a date such as 2027-12-31, 2027-12-31T18:00:00Z or 31 Dec 2027 18:00:00 GMT (ISO 8601, RFC 822 or RFC 850)"
		n, ok = parseDate(value)
	}
	if !ok {
		return Directives{}, fmt.Errorf("%s %s; found %.80q", name, want, value)
	}
	if i := slices.Index(valued[:], d.set); i >= 0 {
		d.values[i] = n
	}
	return d, nil
}
