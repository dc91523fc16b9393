package challenge

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// discard is a response that nobody reads.
type discard struct{ header http.Header }

func (d discard) Header() http.Header          { return d.header }
func (discard) WriteHeader(int)                {}
func (discard) Write(page []byte) (int, error) { return len(page), nil }

// BenchmarkCheck measures what a stranger costs while the check is on: the decision, and the
// page. Each comes from another address.
func BenchmarkCheck(b *testing.B) {
	s := newSite(b, nil)
	s.storm(2*time.Minute, 10)
	if !s.isOn() {
		b.Fatal("the check is off")
	}
	fields := []string{"Accept-Language", "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7", "Sec-Fetch-Dest", "document"}
	a, v, r := s.ask("GET", "/blame/x?a=1&b=%2f", "192.0.2.1", fields...)
	if v != Stranger {
		b.Fatal(v)
	}
	w := discard{make(http.Header)}
	b.Run("page", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			clear(w.header)
			a.page = newToken(s.now)
			if err := s.check.Answer(s.x, w); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, text := range map[string]string{"plain": "abcdefg/", "ampersands": "&a=b&c&&", "escaped": "\"<>\"<>\"<"} {
		b.Run("8kB/"+name, func(b *testing.B) {
			target := "/blame/x?" + strings.Repeat(text, 1<<10)
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				s.x.Request.Target, r.URL.RawQuery = target, target[len("/blame/x?"):]
				*a = Arrival{verdict: Stranger, page: newToken(s.now)}
				s.check.Strip(s.x, false)
				s.check.arrival(s.x)
				if err := s.check.Answer(s.x, w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("pace", func(b *testing.B) {
		b.ReportAllocs()
		s.x.Request.Target, r.URL.RawQuery = "/blame/x", ""
		for i := 0; b.Loop(); i++ {
			*a = Arrival{}
			s.x.Request.Client = addresses[i%len(addresses)]
			s.check.Strip(s.x, false)
			s.rules.Check(&s.x.Request, &s.x.Decision)
			if s.check.decide(s.x); a.verdict != Stranger {
				b.Fatal(a.verdict)
			}
		}
	})
}

// addresses are many addresses, made before what is measured.
var addresses = func() (all [1 << 14]string) {
	for i := range all {
		all[i] = address(1<<20 + i)
	}
	return all
}()
