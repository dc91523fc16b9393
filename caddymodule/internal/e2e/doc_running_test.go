package e2e_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"
)

// The example with the PROXY protocol takes the client's address from it.
func TestDocumentedProxyProtocol(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page("User-agent: *\nCrawl-delay: 600\n"))
	s := start(t, example(t, "proxy-protocol", "10.0.0.0/8", "127.0.0.0/8 ::1/128", "example.com {", "http://localhost:$PORT {", "localhost:9000", b.address()))
	for _, tt := range []struct {
		addr string
		want int
	}{{"203.0.113.1", 200}, {"203.0.113.2", 200}, {"203.0.113.1", 429}} {
		conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", s.port))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "PROXY TCP4 %s 127.0.0.1 4711 %d\r\nGET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Wget/1.21.3\r\nConnection: close\r\n\r\n", tt.addr, s.port)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != tt.want {
			t.Errorf("%s: %d, want %d", tt.addr, resp.StatusCode, tt.want)
		}
		conn.Close()
	}
}
