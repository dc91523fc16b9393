//go:build race

package throttle

// raceFactor is how much less a test does under the race detector, which makes
// it ten times slower.
const raceFactor = 10
