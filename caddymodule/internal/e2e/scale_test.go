package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// manySites returns a Caddyfile with n sites. Each has a robots.txt in its own
// folder.
func manySites(n int, dir, options string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "http://s%d.test:$PORT {\n\trobots {\n\t\tsource file %s\n\t\t%s\n\t}\n\trespond page\n}\n", i, manyFile(dir, i), options)
	}
	return b.String()
}

func manyFile(dir string, i int) string {
	return filepath.Join(dir, fmt.Sprint(i), "robots.txt")
}

// By default, Linux allows a user 128 inotify instances, so 200 sites must not use
// one each.
func TestHundredsOfSitesWithFiles(t *testing.T) {
	t.Parallel()
	const n = 200
	dir := t.TempDir()
	for i := range n {
		writeFile(t, manyFile(dir, i), disallow(fmt.Sprintf("/of-%d/", i)))
	}
	s := start(t, manySites(n, dir, "refresh 1h\n\t\tgrace off"))
	enforced := func(when string, i int) {
		t.Helper()
		host := s.named(fmt.Sprintf("s%d.test", i))
		s.wants(403, s.at(host, googlebot, fmt.Sprintf("/of-%d/x", i)), fmt.Sprintf("%s: %s, a disallowed path", when, host))
		s.wants(200, s.at(host, googlebot, fmt.Sprintf("/of-%d/x", (i+1)%n)), fmt.Sprintf("%s: %s, a path that another site disallows", when, host))
	}
	for i := range n {
		enforced("at first", i)
	}
	for _, options := range []string{"refresh 1h\n\t\tgrace off\n\t\tmode enforce", "refresh 1h\n\t\tgrace off"} {
		if err := s.reload(manySites(n, dir, options)); err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 77, 127, 128, 150, n - 1} {
			enforced("after a reload", i)
		}
	}
	for _, i := range []int{77, n - 1} {
		path := manyFile(dir, i)
		writeFile(t, path+".new", disallow("/new/"))
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		host := s.named(fmt.Sprintf("s%d.test", i))
		s.eventually(fmt.Sprintf("the new file of %s is in force", host), func() bool { return s.at(host, googlebot, "/new/x").status == 403 })
	}
	s.wants(200, s.at(s.named("s0.test"), googlebot, "/new/x"), "a site whose file did not change")
}
