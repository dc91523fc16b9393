// Package overload has benchmarks of the settings shed and limit: how long people wait,
// and who is served, while robots or attackers overload a back end. They need half a
// minute each:
//
//	go test ./overload -bench . -benchtime 1x
package overload
