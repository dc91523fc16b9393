package judge

import (
	"strings"
	"testing"
)

func TestNewOrigin(t *testing.T) {
	for _, tt := range []struct {
		scheme, host string
		port         uint16
		want         string
	}{
		{"http", "example.com", 80, "http://example.com"},
		{"http", "example.com:80", 80, "http://example.com"},
		{"https", "example.com:443", 443, "https://example.com"},
		{"https", "Example.COM.", 443, "https://example.com"},
		{"https", "example.com.:443", 443, "https://example.com"},
		{"https", "example.com.:8443", 8443, "https://example.com:8443"},
		{"https", "example.com", 80, "https://example.com"},
		{"http", "[2001:DB8::1]:8080", 8080, "http://[2001:db8::1]:8080"},
		{"http", "[2001:DB8::1]", 80, "http://[2001:db8::1]"},
		{"http", "", 0, "http://"},
		{"https", strings.Repeat("a", 1000), 443, "https://"},
		// Ports that a client can invent.
		{"http", "example.com:1", 80, "http://example.com"},
		{"http", "example.com:abc", 80, "http://example.com"},
		{"http", "example.com:", 80, "http://example.com"},
		{"http", "[::1]x:9", 80, "http://[::1]"},
	} {
		if got := NewOrigin(tt.scheme, tt.host, tt.port).String(); got != tt.want {
			t.Errorf("NewOrigin(%q, %q, %d) = %s, want %s", tt.scheme, tt.host, tt.port, got, tt.want)
		}
	}
}

func TestIsRobotsTxt(t *testing.T) {
	for target, want := range map[string]bool{
		"/robots.txt": true, "/robots.txt?x": true, "http://a.test/robots.txt": true, "https://u@a.test/robots.txt?x=/": true,
		"/": false, "/Robots.txt": false, "/robots.txt/": false, "/a/robots.txt": false, "/robots.txtx": false, "//robots.txt": false,
		"http://a.test/x/robots.txt": false, "robots.txt": false, "*": false, "": false, "/?http://a.test/robots.txt": false,
		"http://a.test?/robots.txt": false,
	} {
		if got := IsRobotsTxt(target); got != want {
			t.Errorf("IsRobotsTxt(%q) = %v", target, got)
		}
	}
}
