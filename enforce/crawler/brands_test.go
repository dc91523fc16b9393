package crawler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Sec-CH-UA is a list of strings with parameters (RFC 8941, section 3.1).
func TestBrands(t *testing.T) {
	r := crawler.Builtin()
	brands := func(field string) (out []string) {
		for token := ""; ; out = append(out, token) {
			if token, field = r.Brand(field); token == "" {
				return out
			}
		}
	}
	for _, c := range []struct {
		field string
		want  []string
	}{
		{`"Lightpanda";v="1"`, []string{"Lightpanda"}},
		{`"Not A(Brand";v="99", "LIGHTPANDA";v="1", "Chromium";v="140"`, []string{"Lightpanda"}},
		{`"Not;A=Brand, \"x\"";v="8","Lightpanda"`, []string{"Lightpanda"}},
		{`"Light\panda";v="1"`, []string{"Lightpanda"}},
		{`Lightpanda;v=1 , "GPTBot"`, []string{"Lightpanda", "GPTBot"}},
		{`"Lightpanda`, []string{"Lightpanda"}},
		{strings.Repeat(`"Not A Brand";v="24", `, 80) + `"Lightpanda"`, []string{"Lightpanda"}},
		{strings.Repeat(`"Not A Brand";v="24", `, 100) + `"Lightpanda"`, nil}, // beyond MaxUserAgent
		{`"Chromium";v="Lightpanda", "x, \"Lightpanda\", y";v="1"`, nil},
		{`"Lightpanda Two", "Slack", "Pinterest", "` + strings.Repeat("x", 200) + `"`, nil},
		{`"Google Chrome";v="140", "Microsoft Edge";v="140", "Opera GX", "Brave", "YaBrowser", "Yowser", "Samsung Internet", "Android WebView"`, nil},
		{``, nil}, {`"`, nil}, {`\`, nil}, {`,;"\`, nil},
	} {
		if got := brands(c.field); !slices.Equal(got, c.want) {
			t.Errorf("%.80s: %q, want %q", c.field, got, c.want)
		}
	}
	field := `"Chromium";v="140", "Google Chrome";v="140", "Not A(Brand";v="24"`
	if n := testing.AllocsPerRun(100, func() { brands(field) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
