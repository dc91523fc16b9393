package challenge

import (
	"fmt"
	"testing"
	"time"
)

// A pass is good for its time, however it is used, and as long as its client wants no more than
// its pages: by all servers with the key.
func TestTimeOfAPass(t *testing.T) {
	s := newSite(t, func(c *Config) { c.always = true })
	cookie := s.pass("192.0.2.1")
	for after, want := range map[time.Duration]Verdict{0: Go, 3 * time.Hour: Go, 4 * time.Hour: Go, 4*time.Hour + time.Second: Stranger} {
		s.now = noon.Add(after)
		if _, v, _ := s.ask("GET", "/blame/a", "198.51.100.1", "Cookie", cookie); v != want {
			t.Errorf("after %s: %v", after, v)
		}
	}
}

// Who is excepted is never asked: by an address, or by the name of a crawler.
func TestExcept(t *testing.T) {
	c := &Challenge{Paths: []string{"/blame/*"}, Except: []string{"Feedly", "203.0.113.0/24", "2001:db8::1"}}
	settings, err := c.config()
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(c *Config) { c.always, c.names, c.from = true, settings.names, settings.from })
	for _, tt := range []struct {
		addr, agent string
		want        Verdict
	}{
		{"203.0.113.9", chrome, Go},
		{"2001:db8::1", chrome, Go},
		{"203.0.114.9", chrome, Stranger},
		{"192.0.2.1", "Mozilla/5.0 (compatible; Feedly/1.0; +https://feedly.com/fetcher.html)", Go},
	} {
		for i := range 100 { // more than a name that is not excepted may have
			if _, v, _ := s.ask("GET", fmt.Sprint("/blame/", i), tt.addr, "User-Agent", tt.agent); v != tt.want {
				t.Errorf("%s, %s: %d", tt.addr, tt.agent, v)
				break
			}
		}
	}
}
