package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"syscall"
)

// adminValue gets a value from the admin API.
func adminValue[T any](s *server, route string) (value T) {
	s.t.Helper()
	s.adminRequest(http.MethodGet, route, 200, &value)
	return value
}

// adminRequest sends a request to the admin API. It decodes the answer into value,
// unless value is nil.
func (s *server) adminRequest(method, route string, want int, value any) response {
	s.t.Helper()
	got := s.do(method, fmt.Sprintf("http://localhost:%d/robots/%s", s.admin, route), "test", "", nil)
	if got.status != want {
		s.t.Fatalf("%s /robots/%s: status %d, want %d: %s", method, route, got.status, want, got.body)
	}
	if value != nil {
		if err := json.Unmarshal([]byte(got.body), value); err != nil {
			s.t.Fatalf("%s /robots/%s: %v: %s", method, route, err, got.body)
		}
	}
	return got
}

// end stops a server with SIGTERM, and waits until it has ended.
func (s *server) end() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	s.eventually("the server has ended", func() bool {
		return s.cmd.Process.Signal(syscall.Signal(0)) != nil
	})
}
