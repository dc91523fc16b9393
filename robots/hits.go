package robots

// hit is an occurrence: the longest fragment that ends before an octet.
type hit struct{ end, fragment int32 }

// fewHits is room on the stack for the hits of most texts.
type fewHits [64]hit

// maxKeptHits bounds the hits and octets for which room is kept for another
// text.
const maxKeptHits = 16 << 10
