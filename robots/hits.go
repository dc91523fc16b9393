package robots

import "slices"

// hit is an occurrence: the longest fragment that ends before an octet.
type hit struct{ end, fragment int32 }

// hits are the occurrences in a text, in order: of fragments that stand within
// patterns, and of those at the end of one.
type hits struct {
	inner, final []hit
	end          int32 // the longest fragment at the end of the text, 0: none
}

// fewHits is room on the stack for the hits of most texts.
type fewHits struct{ inner, final [32]hit }

// maxKeptHits bounds the room that is kept for another text.
const maxKeptHits = 16 << 10

// copyTo copies few hits to where all of a text of n octets have room.
func (h hits) copyTo(m hits, n int) hits {
	return hits{
		inner: append(slices.Grow(m.inner[:0], n+1), h.inner...),
		final: append(slices.Grow(m.final[:0], n+1), h.final...),
		end:   h.end,
	}
}
