// Package audit compares `caddy robots audit` with GoAccess (Debian package goaccess) on
// the same generated logs. The benchmark reports the wall time (ns/op), the lines per
// second of CPU time, and the largest resident memory of the process.
//
//	go test -bench . -benchtime 1x -timeout 60m ./audit
//	AUDIT_LINES=10000000 go test -bench . -benchtime 1x -timeout 120m ./audit
package audit
