package e2e_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The limits in docs/overload.md and testdata/examples start, and hold the URLs that
// they are for, and no others. Each is run with other back ends.
func TestExampleLimits(t *testing.T) {
	t.Parallel()
	held := map[string][]string{
		"example.com {\n\trobots {\n\t\tlimit /archive/*": {"/archive/x /list?sort=name", "/ /x?page=2"},
		"shop.example.com": {"/product/a?add-to-cart=1 /shop/?orderby=price /shop/?x=1&orderby=price /shop/?filter_color=red /shop/?a=b&min_price=3", "/ /shop/ /product/a /shop/page/2/"},
		"\t\tverify\n":     {"/search?x=1 /search /?q=robots /?a=1&q=robots", "/ /page /?question=1"},
	}
	blocks := fenced(readFile(t, filepath.Join(root(t), "docs", "overload.md")))["caddyfile"]
	blocks = slices.DeleteFunc(blocks, func(block string) bool { return !strings.Contains(block, "limit ") })
	blocks = append(blocks, regexp.MustCompile(`(?ms)^[a-z.]+ \{\n.*?^\}\n`).FindAllString(example(t, "limits"), -1)...)
	if len(blocks) != len(held) {
		t.Errorf("%d examples, %d are tested", len(blocks), len(held))
	}
	b := newBackend(t, page(""))
	for mark, urls := range held {
		i := slices.IndexFunc(blocks, func(block string) bool { return strings.Contains(block, mark) })
		if i < 0 {
			t.Errorf("no example has %q", mark)
			continue
		}
		validate(t, "caddyfile", blocks[i])
		config := regexp.MustCompile(`(?m)^[a-z.]+ \{`).ReplaceAllString(blocks[i], "http://localhost:$$PORT {")
		config = regexp.MustCompile(`reverse_proxy localhost:\d+`).ReplaceAllString(config, "reverse_proxy "+b.address())
		config = regexp.MustCompile(`(?m)^\troot .*\n\tphp_fastcgi .*\n\tfile_server`).ReplaceAllString(config, "\treverse_proxy "+b.address())
		s := start(t, config)
		s.wants(200, s.get(gptbot, "/robots.txt"), mark)
		for n, list := range urls {
			for _, path := range strings.Fields(list) {
				check := s.check("localhost", path, "GPTBot", "")
				if (len(check.Limits) > 0) != (n == 0) {
					t.Errorf("%q: %s is held by %v", mark, path, check.Limits)
				}
				s.wants(200, s.get(chrome, path), path)
			}
		}
		search := s.check("localhost", strings.Fields(urls[0])[0], "Googlebot", "")
		if wanted := strings.Contains(config, "include search"); (len(search.Limits) > 0) != wanted {
			t.Errorf("%q: Googlebot is held by %v", mark, search.Limits)
		}
	}
}
