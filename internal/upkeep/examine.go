package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

const (
	atOnce       = 8
	maxSize      = 4 << 20 // octets of a document that are read
	maxProposals = 100     // tokens in a report
	wellKnown    = "/.well-known/http-message-signatures-directory"
)

// kind is what a document is for.
type kind int

const (
	page kind = iota // an operator's page, or another source
	list
	directory
)

// document is a document that rows name.
type document struct {
	url  string
	kind kind
	rows []string // names of the rows
	size int      // prefixes of a list, keys of a directory
	err  error
	body []byte
}

// report is what examine found.
type report struct {
	documents []*document
	before    map[string]int // sizes of the lists of the last run, by URL
	sizes     map[string]int
	proposals []string // rows for names on operators' pages that no row has: of letters, digits and the registry's own URL
}

// documents returns the documents of a registry, sorted by their URL.
func documents(registry *crawler.Registry) []*document {
	found := map[string]*document{}
	add := func(address string, k kind, row string) {
		address, _, _ = strings.Cut(address, " ") // … (second-hand)
		if !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
			return
		}
		if found[address] == nil {
			found[address] = &document{url: address}
		}
		d := found[address]
		if d.kind = max(d.kind, k); !slices.Contains(d.rows, row) {
			d.rows = append(d.rows, row)
		}
	}
	for c := range registry.All() {
		for _, sources := range c.Sources {
			for _, s := range sources {
				add(s, page, c.Name)
			}
		}
		for _, u := range c.Verify.Ranges {
			add(u, list, c.Name)
		}
		for _, u := range c.Verify.SignatureAgents {
			if p, err := url.Parse(u); err == nil && strings.Trim(p.Path, "/") == "" {
				u = strings.TrimSuffix(u, "/") + wellKnown
			}
			add(u, directory, c.Name)
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *document) int { return strings.Compare(a.url, b.url) })
}

// examine reads the documents of a registry.
func examine(ctx context.Context, client *http.Client, registry *crawler.Registry, before map[string]int) *report {
	r := &report{documents: documents(registry), before: before, sizes: map[string]int{}}
	running := background.AtMost(atOnce)
	for _, d := range r.documents {
		running.Go("a read", func() { d.read(ctx, client) })
	}
	running.Wait() // a document keeps its error
	seen := map[string]bool{}
	for _, d := range r.documents {
		if d.kind == list && d.err == nil {
			r.sizes[d.url] = d.size
		} else if size, ok := before[d.url]; ok {
			r.sizes[d.url] = size // a list that can't be read now
		}
		if d.kind == page && d.err == nil {
			r.propose(registry, d, seen)
		}
	}
	return r
}

// read reads a document and sets its size or its error.
func (d *document) read(ctx context.Context, client *http.Client) {
	if d.body, d.err = get(ctx, client, d.url); d.err != nil {
		return
	}
	switch d.kind {
	case list:
		u, _ := url.Parse(d.url)
		d.size, d.err = verify.ListSize(d.body, u.Fragment)
	case directory:
		var keys struct {
			Keys []json.RawMessage `json:"keys"`
		}
		if d.err = json.Unmarshal(d.body, &keys); d.err == nil && len(keys.Keys) == 0 {
			d.err = errors.New("the directory has no keys")
		}
		d.size = len(keys.Keys)
	}
}

func get(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "caddy-robots-upkeep (+https://github.com/caddy-robots/caddy-robots)")
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	return io.ReadAll(io.LimitReader(res.Body, maxSize))
}

// names finds what operators' pages call crawlers: the token of a User-agent line
// of robots.txt, and words such as AcmeBot.
var names = regexp.MustCompile(`(?i:\buser-agent:\s*)([A-Za-z][A-Za-z0-9_-]{2,60})|\b([A-Z][A-Za-z0-9_-]{1,50}(?:[Bb]ot|[Ss]pider|[Cc]rawler|-User|-Agent))\b`)

// propose adds the names on a page that the registry lacks and that it would
// accept from a registry URL.
func (r *report) propose(registry *crawler.Registry, d *document, seen map[string]bool) {
	for _, m := range names.FindAllSubmatch(d.body, -1) {
		token := string(cmp.Or(string(m[1]), string(m[2])))
		if seen[strings.ToLower(token)] || len(r.proposals) == maxProposals {
			continue
		}
		seen[strings.ToLower(token)] = true
		row := crawler.Crawler{Name: token, Class: crawler.Registered, UserAgents: []string{token}, Robots: []string{token}}
		if _, rejected := registry.Extend([]crawler.Crawler{row}); len(rejected) > 0 || registry.Lookup(token) != nil {
			continue
		}
		text, err := json.Marshal(map[string]any{
			"name": token, "purposes": []string{}, "unverified": []string{"operator", "purposes", "user_agents", "robots"},
			"sources": map[string][]string{"user_agents": {d.url}},
		})
		if err == nil {
			r.proposals = append(r.proposals, string(text))
		}
	}
}
