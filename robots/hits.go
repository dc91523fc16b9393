package robots

// hit is an occurrence: the longest fragment that ends before an octet.
type hit struct{ end, fragment int32 }

// stackHits is the number of hits that fit on the stack: enough for most texts.
type stackHits [64]hit

// maxKeptHits bounds the hits and octets of the buffers that are kept for
// reuse.
const maxKeptHits = 16 << 10
