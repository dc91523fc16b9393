package enforce

import (
	"strings"
	"testing"
)

func TestSpellingsOfAnOriginAreEqual(t *testing.T) {
	for _, tt := range []struct {
		tls  bool
		host string
		want string
	}{
		{false, "example.com", "http://example.com"},
		{false, "example.com:80", "http://example.com"},
		{true, "example.com:443", "https://example.com"},
		{true, "Example.COM.", "https://example.com"},
		{true, "example.com.:443", "https://example.com"},
		{true, "example.com.:8443", "https://example.com:8443"},
		{true, "example.com:80", "https://example.com:80"},
		{false, "[2001:DB8::1]:8080", "http://[2001:db8::1]:8080"},
		{false, "", "http://"},
		{true, strings.Repeat("a", 1000), "https://"},
	} {
		if got := NewOrigin(tt.tls, tt.host).String(); got != tt.want {
			t.Errorf("NewOrigin(%v, %q) = %s, want %s", tt.tls, tt.host, got, tt.want)
		}
	}
}
