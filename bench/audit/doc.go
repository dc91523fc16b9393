// Package audit measures `caddy robots audit` beside GoAccess (Debian package
// goaccess) on the same made-up logs: lines a second of wall time and of CPU
// time, and the most memory that the process had.
//
//	go test -bench . -benchtime 1x -timeout 60m ./audit
//	AUDIT_LINES=10000000 go test -bench . -benchtime 1x -timeout 120m ./audit
package audit
