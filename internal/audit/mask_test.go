package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// A report has neither client addresses nor the values of queries, unless Full is set.
func TestMask(t *testing.T) {
	site := oneSite("User-agent: *\nDisallow: /\n")
	log := `192.0.2.77 - - [07/Nov/2026:12:00:00 +0000] "GET /x?token=sesame&other=simsim HTTP/1.1" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"
2001:db8:7:8::99 - - [07/Nov/2026:12:01:00 +0000] "GET /y?sesame HTTP/1.1" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"
192.0.2.78 - - [07/Nov/2026:12:01:00 +0000] "GET /y?token=sesame HTTP/1.1" x200
2001:db8:7:8::99 - - [07/Nov/2026:12:01:00 +0000] "GET /y?token=sesame HTTP/1.1" x200
`
	text := func(full bool) string {
		r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(log))}, Sites: site, Full: full})
		if r.Masked == full || r.Unreadable != 2 {
			t.Errorf("masked %v, %d unreadable", r.Masked, r.Unreadable)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	masked := text(false)
	for _, secret := range []string{"192.0.2.77", "192.0.2.78", "7:8::99", "sesame", "simsim"} {
		if strings.Contains(masked, secret) {
			t.Errorf("%q is in %s", secret, masked)
		}
		if !strings.Contains(text(true), secret) {
			t.Errorf("%q is not in the full report", secret)
		}
	}
	if !strings.Contains(masked, "token=") || !strings.Contains(masked, "192.0.2.0/24") {
		t.Errorf("too much is masked: %s", masked)
	}
}
