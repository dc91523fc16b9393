package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// heap returns the octets of the server's heap that are in use.
func (s *server) heap() (octets int) {
	s.t.Helper()
	profile := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/debug/pprof/heap?gc=1&debug=1", s.admin), "test", "", nil)
	for lines := bufio.NewScanner(strings.NewReader(profile.body)); lines.Scan(); {
		if n, ok := strings.CutPrefix(lines.Text(), "# HeapAlloc = "); ok {
			_, _ = fmt.Sscan(n, &octets)
		}
	}
	return octets
}

// Who serves large files at hosts without end takes the memory that the setting allows, and
// does not delay what is said about a neighbour's file.
func TestMemoryOfTenants(t *testing.T) {
	t.Parallel()
	back := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			return
		}
		var b strings.Builder
		for i := 0; b.Len() < 500<<10; i++ {
			fmt.Fprintf(&b, "Disalow: /%s\nUser-agent: *\nDisallow: /%s/%d/some/path/\n", r.Host, r.Host, i)
		}
		_, _ = io.WriteString(w, b.String())
	})
	s := start(t, "{\n\trobots {\n\t\tmax_memory 16MiB\n\t}\n}\nhttp://:$PORT {\n\trobots {\n\t\tmax_origins 100\n\t}\n\treverse_proxy "+
		back.Listener.Addr().String()+"\n}\nhttp://neighbour.test:$PORT {\n\trobots {\n\t\tsource inline <<E\n\t\t\tUser-agent: *\n\t\t\tDisalow: /x\n\t\t\tE\n\t}\n}\n")
	calm := s.heap()
	for i := range 30 {
		s.at(fmt.Sprintf("h%d.test", i), gptbot, "/page")
	}
	s.eventually("the neighbour's mistake is in the log", func() bool {
		return strings.Contains(fmt.Sprint(s.lines("robots.txt has a mistake")), "Disalow")
	})
	if took := s.heap() - calm; took > 16<<20+8<<20 {
		t.Errorf("%d octets are kept for hosts of which the setting allows 16 MiB", took)
	}
}
