// Package soak runs a server for a long time and prints the trend of what it
// takes:
//
//	go test ./soak -bench . -benchtime 1h
package soak
