package server

import (
	"net/http"
	"testing"
)

func TestStartAndReload(t *testing.T) {
	site := func(answer string) string {
		return "http://localhost:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\"\n\t}\n\trespond " + answer + "\n}\n"
	}
	s := Start(t, site("200"))
	for _, status := range []int{200, 204} {
		resp, err := http.Get(s.URL("/"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("status %d, want %d", resp.StatusCode, status)
		}
		if err := s.Reload(site("204")); err != nil {
			t.Fatal(err)
		}
	}
}
