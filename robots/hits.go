package robots

// hit is an occurrence of a fragment: the longest one that ends at an octet.
type hit struct{ end, fragment int32 }

// stackHits has room for the hits in most texts, on the stack.
type stackHits [64]hit

// maxKeptHits is the maximal capacity, in hits or octets, of buffers that are
// kept for reuse.
const maxKeptHits = 16 << 10
