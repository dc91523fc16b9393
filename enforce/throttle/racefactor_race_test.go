//go:build race

package throttle

// raceFactor divides the amount of work of a test with the race detector, which
// makes tests ten times slower.
const raceFactor = 10
