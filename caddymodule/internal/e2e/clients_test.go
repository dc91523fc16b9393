package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
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

// behindProxy returns a configuration that trusts the proxy of from.
func behindProxy(robots, options string) string {
	return "{\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1/128\n\t}\n}\nhttp://:$PORT {\n\trobots {\n\t\tsource inline <<TXT\n\t\t\t" +
		strings.ReplaceAll(strings.TrimSpace(robots), "\n", "\n\t\t\t") + "\n\t\t\tTXT\n\t\tpublish\n" + options + "\t}\n\trespond hello\n}\n"
}
