package headers

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/editdistance"
)

// Directives is a set of directives of an X-Robots-Tag field or a robots meta
// tag, such as noindex. Two sets can be compared with ==. This compares names
// and values, and not meanings: "none" and "noindex, nofollow" are not equal.
// The zero value has no directives.
//
// In JSON it is a string, such as "noindex, nofollow".
type Directives struct {
	set    set
	limits [len(limited)]int32 // the values of the directives in limited
	day    bool                // until is a day without a time
	until  time.Time
}

// limited are the directives with a value that is a limit: characters, seconds,
// and an index into imagePreviews. -1 means no limit.
var limited = [...]set{maxSnippet, maxVideoPreview, maxImagePreview}

// Indexes into limited.
const (
	snippet = iota
	video
	image
)

// Empty reports whether d has no directives.
func (d Directives) Empty() bool { return d.set == 0 }

// Has reports whether d has the directive with that name, or a directive that
// includes it: the directive "none" includes "noindex" and "nofollow". The name
// is in upper or lower case; for others, Has returns false.
func (d Directives) Has(name string) bool {
	w := lookup(name)
	return w != nil && d.set&w.bit != 0
}

// String returns the directives as an X-Robots-Tag value, in a fixed
// order, with dates in ISO 8601. ParseDirectives reads it back.
func (d Directives) String() string { return string(d.appendTo(make([]byte, 0, 64))) }

func (d Directives) appendTo(b []byte) []byte {
	shown := d.set
	if shown&noindex == 0 || shown&nofollow == 0 {
		shown &^= none
	}
	if shown&none != 0 {
		shown &^= noindex | nofollow
	}
	start := len(b)
	for i := range vocabulary {
		w := &vocabulary[i]
		if shown&w.bit == 0 {
			continue
		}
		if len(b) > start {
			b = append(b, ", "...)
		}
		b = append(b, w.name...)
		switch w.bit {
		case maxSnippet:
			b = strconv.AppendInt(append(b, ':'), int64(d.limits[snippet]), 10)
		case maxVideoPreview:
			b = strconv.AppendInt(append(b, ':'), int64(d.limits[video]), 10)
		case maxImagePreview:
			b = append(append(b, ':'), imagePreviews[d.limits[image]]...)
		case unavailableAfter:
			b = append(append(b, ": "...), formatDate(d.until, d.day)...)
		}
	}
	return b
}

// MarshalText returns the same text as String.
func (d Directives) MarshalText() ([]byte, error) { return d.appendTo(nil), nil }

// UnmarshalText reads the text as ParseDirectives does.
func (d *Directives) UnmarshalText(text []byte) error {
	parsed, err := ParseDirectives(string(text))
	if err == nil {
		*d = parsed
	}
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
			found := d.set & c.restrictive
			if d.set&none != 0 {
				found = none
			}
			return fmt.Errorf("%s and %s contradict each other; keep the one that you mean", c.permissive.names(), found.names())
		}
	}
	if d.set&nosnippet != 0 && d.set&maxSnippet != 0 && d.limits[snippet] != 0 {
		return fmt.Errorf("nosnippet and max-snippet:%d contradict each other; keep the one that you mean", d.limits[snippet])
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
	if d.set == 0 {
		return e
	}
	r := Directives{set: d.set | e.set}
	for i, bit := range limited {
		if r.limits[i] = d.limits[i]; d.set&bit == 0 || e.set&bit != 0 && looser(d.limits[i], e.limits[i]) {
			r.limits[i] = e.limits[i]
		}
	}
	r.until, r.day = d.until, d.day
	if d.set&unavailableAfter == 0 || e.set&unavailableAfter != 0 &&
		(e.until.Before(d.until) || e.until.Equal(d.until) && e.day) {
		r.until, r.day = e.until, e.day
	}
	return r
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

// valued is the set of the directives that have a value.
const valued = maxSnippet | maxVideoPreview | maxImagePreview | unavailableAfter

// keep returns the directives of d that are in s.
func (d Directives) keep(s set) Directives {
	d.set &= s
	if d.set&valued == 0 {
		return Directives{set: d.set}
	}
	for i, bit := range limited {
		if d.set&bit == 0 {
			d.limits[i] = 0
		}
	}
	if d.set&unavailableAfter == 0 {
		d.until, d.day = time.Time{}, false
	}
	return d
}

// looser reports whether the limit x allows more than y.
func looser(x, y int32) bool { return y >= 0 && (x < 0 || x > y) }

// without returns the directives of d that u does not imply. u implies a
// directive if it has the same or a more restrictive one.
func (d Directives) without(u Directives) Directives {
	if u.set == 0 {
		return d
	}
	need := d.set &^ (u.set &^ valued) &^ u.set.overridden()
	for i, bit := range limited {
		if u.set&bit != 0 && !looser(u.limits[i], d.limits[i]) {
			need &^= bit
		}
	}
	if u.set&unavailableAfter != 0 && !u.until.After(d.until) {
		need &^= unavailableAfter
	}
	if !u.embedded() {
		need &^= indexifembedded
	}
	if need&(noindex|nofollow) == 0 {
		need &^= none
	}
	return d.keep(need)
}

// overrides reports whether d forbids what the single directive one permits.
func (d Directives) overrides(one Directives) bool {
	if one.set&d.set.overridden()&^maxSnippet != 0 {
		return true
	}
	for i, bit := range limited {
		if one.set&d.set&bit != 0 && looser(one.limits[i], d.limits[i]) {
			return true
		}
	}
	switch one.set {
	case indexifembedded:
		return !d.embedded()
	case maxSnippet:
		return d.set&nosnippet != 0 && one.limits[snippet] != 0
	case unavailableAfter:
		return d.set&unavailableAfter != 0 && one.until.After(d.until)
	}
	return false
}

// value parses the value of a directive and returns the directive.
func (w *word) value(s string) (Directives, error) {
	d := Directives{set: w.sets}
	switch w.kind {
	case noValue:
		if s != "" {
			return d, fmt.Errorf("%s takes no value, found %q", w.name, clip(s))
		}
	case numberValue:
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < -1 || s[0] == '+' {
			return d, fmt.Errorf("%s needs a whole number, such as %s:50; 0 means none, -1 means no limit; found %q", w.name, w.name, clip(s))
		}
		d.limits[slices.Index(limited[:], w.bit)] = int32(n)
	case sizeValue:
		i := slices.Index(imagePreviews, strings.ToLower(s))
		if i < 0 {
			if near := editdistance.Nearest(s, slices.Values(imagePreviews)); near != "" {
				return d, fmt.Errorf("%s must be %s; found %q, did you mean %q?", w.name, "none, standard or large", clip(s), near)
			}
			return d, fmt.Errorf("%s must be none, standard or large; found %q", w.name, clip(s))
		}
		d.limits[image] = int32(i)
	case dateValue:
		t, day, ok := parseDate(s)
		if !ok {
			return d, fmt.Errorf("%s needs a date such as 2027-12-31, 2027-12-31T18:00:00Z or 31 Dec 2027 18:00:00 GMT (ISO "+
				"8601, RFC 822 or RFC 850); found %q", w.name, clip(s))
		}
		d.until, d.day = t, day
	}
	return d, nil
}
