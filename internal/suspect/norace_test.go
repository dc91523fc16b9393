//go:build !race

package suspect

// raceEnabled says whether the race detector is on, which makes tests much slower.
const raceEnabled = false
