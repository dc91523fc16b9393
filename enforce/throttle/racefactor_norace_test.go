//go:build !race

package throttle

// raceFactor divides the amount of work of a test with the race detector.
const raceFactor = 1
