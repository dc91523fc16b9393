//go:build !race

package throttle

// raceFactor is how much less a test does under the race detector.
const raceFactor = 1
