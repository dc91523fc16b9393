//go:build !race

package suspect

// raceEnabled is set where tests take many times as long.
const raceEnabled = false
