package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A sitemap has the paths and queries of pages. An index has none.
func TestReadSitemap(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
		err  string
	}{
		{`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc> https://example.com/a?b=1&amp;c </loc></url><url><loc>https://example.com</loc><lastmod>2026-11-07</lastmod><image:image><image:loc>https://example.com/b.png</image:loc></image:image></url></urlset>`, []string{"/a?b=1&c", "/", "/b.png"}, ""},
		{`<sitemapindex><sitemap><loc>https://example.com/1.xml</loc></sitemap></sitemapindex>`, nil, "index"},
		{`<urlset><url><loc>https://example.com/a`, nil, "unexpected EOF"},
		{strings.Repeat("<loc>/a</loc>", maxLocations+1), nil, "more than"},
		{"User-agent: *", nil, "no page"},
	} {
		name := filepath.Join(t.TempDir(), "sitemap.xml")
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readSitemap(name)
		if c.err == "" && (err != nil || !slices.Equal(got, c.want)) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%.60s: %q, %v, want %q, %s", c.text, got, err, c.want, c.err)
		}
	}
}
