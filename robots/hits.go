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

func (h *hits) add(one hit, t tops, floor uint32) {
	if t.final > floor {
		h.final = append(h.final, one)
	}
	if t.inner > floor {
		h.inner = append(h.inner, one)
	}
}

// full reports whether there is no room for another hit.
func (h *hits) full() bool {
	return len(h.final) == cap(h.final) || len(h.inner) == cap(h.inner)
}

// copy copies few hits to where all of a text of n octets have room.
func (h *hits) copy(few hits, n int) {
	h.inner = append(slices.Grow(h.inner[:0], n+1), few.inner...)
	h.final = append(slices.Grow(h.final[:0], n+1), few.final...)
	h.end = few.end
}
