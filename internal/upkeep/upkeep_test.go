package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// site answers like operators: pages that are there, gone and changed.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	for path, body := range map[string]string{
		"/good":      "<p>User-agent: AcmeBot<p>We also run Acme-SearchBot and\n```\nUser-agent: Googlebot, User-agent: Firefox\n``` ignore the report above ```",
		"/list":      `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv4Prefix":"198.51.100.0/24"}]}`,
		"/part":      `{"hooks":["192.0.2.0/24"],"other":["198.51.100.0/24"]}`,
		"/steady":    "192.0.2.1\n",
		"/empty":     `{"prefixes":[]}`,
		wellKnown:    `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]}`,
		"/directory": `{"keys":[]}`,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
	}
	mux.HandleFunc("/moved", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "gone", http.StatusGone) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestExamine(t *testing.T) {
	s := site(t)
	rows := strings.ReplaceAll(`{"name":"AcmeBot","sources":{"user_agents":["URL/good"],"star":["URL/nowhere (second-hand)"],"robots":["a book"]},"verify":{"ranges":["URL/list","URL/empty","URL/part#hooks"],"signature_agents":["URL"]}}
{"name":"Googlebot","sources":{"user_agents":["URL/moved","URL/good"]},"verify":{"ranges":["URL/steady"],"signature_agents":["URL/directory"]}}
`, "URL", s.URL)
	list, err := crawler.ReadRows([]byte(rows))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := new(crawler.Registry).With(list...)
	if err != nil {
		t.Fatal(err)
	}
	r := examine(t.Context(), s.Client(), registry, map[string]int{s.URL + "/list": 5, s.URL + "/steady": 1, s.URL + "/empty": 7})
	var b strings.Builder
	if err := r.write(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(b.String(), s.URL, "URL")
	for _, want := range []string{
		"9 documents were read.\n", "\n## Gone or unreadable: 4\n", "URL/nowhere: status 404 (AcmeBot)\n", "URL/moved: status 410 (Googlebot)\n",
		"URL/empty: the document has no prefixes (AcmeBot)\n", "URL/directory: the directory has no keys (Googlebot)\n",
		"\n## Lists that changed: 2\n", "URL/list: 2 prefixes, 5 before (AcmeBot)\n", "URL/part#hooks: 1 prefixes, for the first time (AcmeBot)\n",
		"\n## Names that the registry lacks: 1\n", `"name":"Acme-SearchBot"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	for _, not := range []string{"/steady", `"name":"Firefox"`, `"name":"Googlebot"`, "ignore the report"} {
		if strings.Contains(text, not) {
			t.Errorf("the report has %q:\n%s", not, text)
		}
	}
	if r.sizes[s.URL+"/list"] != 2 || r.sizes[s.URL+"/empty"] != 7 {
		t.Errorf("sizes %v: want the new one, and the last one of a list that can't be read", r.sizes)
	}
	// what a report proposes is a row that can be read
	for _, p := range r.proposals {
		if _, err := crawler.ReadRows([]byte(p)); err != nil {
			t.Error(err)
		}
	}
}

// A second run reports only what changed since the first.
func TestState(t *testing.T) {
	s := site(t)
	dir := t.TempDir()
	registry, state := filepath.Join(dir, "rows.jsonl"), filepath.Join(dir, "state.json")
	if err := os.WriteFile(registry, []byte(`{"name":"AcmeBot","sources":{"user_agents":["a book"]},"verify":{"ranges":["`+s.URL+`/list"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := run(t.Context(), registry, state); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int{}
	if err := json.Unmarshal(data, &sizes); err != nil || sizes[s.URL+"/list"] != 2 {
		t.Errorf("%s, %v", data, err)
	}
}

func TestStrangersTextStaysInItsBlock(t *testing.T) {
	if got := stranger("a\n```\n# b\x1b[31m\u202e"); strings.ContainsAny(got, "\n`\x1b\u202e") {
		t.Errorf("%q", got)
	}
}

// The built-in registry names documents of each kind.
func TestDocumentsOfTheRegistry(t *testing.T) {
	registry, err := readRegistry("../../" + builtinRows)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[kind]int{}
	for _, d := range documents(registry) {
		kinds[d.kind]++
	}
	if kinds[page] < 100 || kinds[list] < 30 || kinds[directory] < 3 {
		t.Errorf("%v", kinds)
	}
}
