package crawler

import (
	"strings"
	"testing"
)

func TestCheckSuffix(t *testing.T) {
	for suffix, ok := range map[string]bool{
		"googlebot.com": true, ".search.msn.com": true, "crawl.amazonbot.amazon": true, "com": false, "": false, "googleusercontent.com": false,
		"gae.googleusercontent.com": false, "compute.amazonaws.com": false, "https://googlebot.com": false, "*.googlebot.com": false,
		strings.Repeat("a.", 200): false,
	} {
		if err := CheckSuffix(suffix); (err == nil) != ok {
			t.Errorf("CheckSuffix(%q) = %v, want accepted: %v", suffix, err, ok)
		}
	}
}
