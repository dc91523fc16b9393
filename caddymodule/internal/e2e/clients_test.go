package e2e_test

import (
	"fmt"
	"net/http"
)

// from sends a request with a client address, in the same way as a trusted proxy.
func (s *server) from(address, method, ua, path string, fields ...string) response {
	s.t.Helper()
	h := http.Header{"X-Forwarded-For": {address}}
	for i := 0; i+1 < len(fields); i += 2 {
		h.Set(fields[i], fields[i+1])
	}
	return s.do(method, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, "", h)
}
