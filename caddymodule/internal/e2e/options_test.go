package e2e_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// siteWith returns a site with a robots.txt and the given options.
func siteWith(options string) string { return siteAt("", options) }

// siteAt is siteWith for one host.
func siteAt(host, options string) string {
	return `http://` + host + `:$PORT {
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /private/
			Crawl-delay: 100

			User-agent: bingbot
			Crawl-delay: 1
			Disallow: /private/
			TXT
		` + options + `
	}
	respond "hello"
}
`
}

func TestValidateUsesNoNetwork(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	path := filepath.Join(t.TempDir(), "Caddyfile")
	writeFile(t, path, "http://:1 {\n\trobots {\n\t\tsource url "+back.URL+"/robots.txt\n\t\tfleet redis://"+strings.TrimPrefix(back.URL, "http://")+"\n\t}\n}\n")
	if out, err := exec.Command(binary, "validate", "--adapter", "caddyfile", "--config", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := back.count(); n != 0 {
		t.Errorf("%d requests to the URL", n)
	}
}
