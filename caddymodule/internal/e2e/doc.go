// Package e2e has the tests that run the built server and send it requests,
// those of the commands, and those that run the examples of the documentation.
package e2e
