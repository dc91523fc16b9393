// Package robots holds benchmarks of the robots.txt matcher beside
// github.com/temoto/robotstxt, the Go library that most projects use.
//
//	go test -bench . -benchmem ./robots
package robots
