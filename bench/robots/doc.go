// Package robots compares the robots.txt parser and matcher with
// github.com/temoto/robotstxt, the Go library that most projects use.
//
//	go test -bench . -benchmem ./robots
package robots
