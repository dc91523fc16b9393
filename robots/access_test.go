package robots

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// RFC 9309, section 2.3.1: the meaning of the status of the response.
func TestFromResponse(t *testing.T) {
	body := []byte("User-agent: *\nDisallow: /a\n")
	for status, want := range map[int]string{
		200: "/a", 204: "/a", 301: "", 304: "", 404: "", 410: "", 429: "", 401: "", 500: "/", 503: "/", 0: "/", 100: "/", 600: "/",
	} {
		f := FromResponse(status, body)
		disallowed := ""
		for _, path := range []string{"/", "/a"} {
			if !f.Allowed("anybot", path) {
				disallowed = path
				break
			}
		}
		if disallowed != want {
			t.Errorf("status %d: the first disallowed path is %q, want %q", status, disallowed, want)
		}
	}
}

func TestRead(t *testing.T) {
	endless := iotest.OneByteReader(io.MultiReader(strings.NewReader("User-agent: *\nDisallow: /a\n"), zeros{}))
	if f, err := Read(endless); err != nil || !f.Truncated() || f.Allowed("x", "/a") {
		t.Errorf("an endless file: %v, truncated %v", err, f.Truncated())
	}
	broken := io.MultiReader(strings.NewReader("User-agent: *\nDisallow: /a\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if f, err := Read(broken); !errors.Is(err, io.ErrUnexpectedEOF) || f.Allowed("x", "/a") {
		t.Errorf("a broken connection: %v", err)
	}
	if f, _ := Read(strings.NewReader("User-agent: *\nDisallow: /a\n"), WithMaxSize(14)); f.Size() != 14 || !f.Allowed("x", "/a") {
		t.Errorf("%d octets, want 14", f.Size())
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestLocationAndCovers(t *testing.T) {
	for _, tt := range []struct {
		location, page string
		want           bool
	}{
		{"https://example.com/robots.txt", "https://example.com/a?b#c", true},
		{"https://example.com/robots.txt", "HTTPS://Example.COM:443", true},
		{"https://example.com./robots.txt", "https://user@example.com/", true},
		{"https://example.com/robots.txt", "http://example.com/", false},
		{"https://example.com/robots.txt", "https://example.com:8443/", false},
		{"https://example.com/robots.txt", "https://www.example.com/", false},
		{"https://example.com/a/robots.txt", "https://example.com/a/", false},
		{"http://[2001:DB8::1]:80/robots.txt", "http://[2001:db8::1]/", true},
		{"/robots.txt", "/a", false},
	} {
		if got := Covers(tt.location, tt.page); got != tt.want {
			t.Errorf("Covers(%q, %q) = %v", tt.location, tt.page, got)
		}
		if location, ok := Location(tt.page); ok && !Covers(location, tt.page) {
			t.Errorf("Location(%q) = %q does not cover it", tt.page, location)
		}
	}
	if got, ok := Location("http://example.com:8080/a"); !ok || got != "http://example.com:8080/robots.txt" {
		t.Errorf("Location = %q", got)
	}
}
