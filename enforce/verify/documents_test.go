//go:build upkeep

package verify

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/document"
)

// robotNames finds what operators' pages call crawlers: the token of a User-agent line
// of robots.txt, and words such as AcmeBot.
var robotNames = regexp.MustCompile(`(?i:\buser-agent:\s*)([A-Za-z][A-Za-z0-9_-]{2,60})|` +
	`\b([A-Z][A-Za-z0-9_-]{1,50}(?:[Bb]ot|[Ss]pider|[Cc]rawler|-User|-Agent))\b`)

// The documents on which the registry rests are there: the pages that are sources of
// facts, the lists of addresses, the directories of keys. It reads them from their
// operators, so it runs only with the tag upkeep, and logs the names on their pages
// that the registry lacks and would accept.
func TestDocuments(t *testing.T) {
	file, err := os.ReadFile("../crawler/registry.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := crawler.ReadRows(file) // with their sources, which the built-in registry drops
	if err != nil {
		t.Fatal(err)
	}
	registry := crawler.Builtin()
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	var seen sync.Map
	page := func(r *document.Response) error {
		for _, m := range robotNames.FindAllSubmatch(r.Body, -1) {
			token := string(cmp.Or(string(m[1]), string(m[2])))
			if _, before := seen.LoadOrStore(strings.ToLower(token), true); before || registry.Lookup(token) != nil {
				continue
			}
			row := crawler.Crawler{Name: token, Class: crawler.Registered, UserAgents: []string{token}, Robots: []string{token}}
			if _, rejected := registry.Extend([]crawler.Crawler{row}); len(rejected) == 0 {
				t.Logf("not in the registry: %s", token)
			}
		}
		return nil
	}
	checks := map[string]func(*document.Response) error{} // by URL
	for _, c := range rows {
		for _, sources := range c.Sources {
			for _, s := range sources {
				s, _, _ = strings.Cut(s, " ")
				if strings.Contains(s, "://") { // … (second-hand)
					checks[s] = page
				}
			}
		}
	}
	for _, c := range rows {
		for _, s := range c.Verify.Ranges {
			list, part, _ := strings.Cut(s, "#")
			checks[list] = func(r *document.Response) error { _, err := parseList(r.Body, part, nil); return err }
		}
		for _, s := range c.Verify.SignatureAgents {
			if u, err := url.Parse(s); err == nil {
				checks[directoryURL(u)] = func(r *document.Response) error {
					_, err := parseDirectory(&document.Response{Body: r.Body, MediaType: r.MediaType}, time.Now())
					return err
				}
			}
		}
	}
	if len(checks) < 100 {
		t.Fatalf("%d documents", len(checks))
	}
	for address, check := range checks {
		t.Run(strings.NewReplacer("/", "_").Replace(address), func(t *testing.T) {
			t.Parallel()
			if err := read(client, address, check); err != nil {
				t.Errorf("%s: %q", address, err)
			}
		})
	}
}

// read reads a document and checks what it has.
func read(client *http.Client, address string, check func(*document.Response) error) error {
	r, err := client.Get(address)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", r.StatusCode)
	}
	if err != nil {
		return err
	}
	return check(&document.Response{Body: body, MediaType: r.Header.Get("Content-Type")})
}
