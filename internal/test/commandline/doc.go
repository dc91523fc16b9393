// Package commandline runs `caddy robots …` in tests, with the commands that the test
// imports, and compares what they print with golden files.
package commandline
