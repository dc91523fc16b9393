package e2e_test

import (
	"fmt"

	"net/http"
)

const (
	document = `{"type":"Person"}`
)

// fetch sends a request as servers of the Fediverse do.
func (s *server) fetch(method, ua, path, accept string, fields ...string) response {
	s.t.Helper()
	h := http.Header{"Accept": {accept}, "Signature": {`keyId="https://snac.example/actor#key",signature="x"`}}
	for i := 0; i+1 < len(fields); i += 2 {
		if h[fields[i]] = nil; fields[i+1] != "" {
			h[fields[i]] = []string{fields[i+1]}
		}
	}
	return s.do(method, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, "", h)
}
