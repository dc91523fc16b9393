package page

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/page"
)

// sample returns a report with content for each section of the page.
func sample(t testing.TB) *audit.Report {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash("../../internal/audit/page/testdata/report.json"))
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, text)
}

// decoded returns a report from its JSON form.
func decoded(t testing.TB, text []byte) *audit.Report {
	t.Helper()
	r := new(audit.Report)
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// file writes the page of a report to a file and returns its URL.
func file(t testing.TB, r *audit.Report) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Write(f, r); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// open opens the page of a report in a window with a width in CSS pixels.
func open(t testing.TB, b *chromium.Browser, url string, width int64, actions ...chromedp.Action) *chromium.Page {
	t.Helper()
	tab := b.NewPage()
	tab.Run(append(actions, emulation.SetDeviceMetricsOverride(width, 900, 1, width < 600), chromedp.Navigate(url))...)
	tab.Eventually("the page was loaded", `document.readyState === "complete"`)
	return tab
}

// clean checks that the page requested nothing but itself, and that it has no errors.
func clean(t testing.TB, tab *chromium.Page, url string) {
	t.Helper()
	if got := tab.Requests(); !slices.Equal(got, []string{url}) {
		t.Errorf("requests %q", got)
	}
	if got := tab.Errors(); len(got) > 0 {
		t.Errorf("errors:\n%s", strings.Join(got, "\n"))
	}
}

// hostile returns the sample with all texts that strangers may have written replaced.
func hostile(t testing.TB, text string) *audit.Report {
	t.Helper()
	encoded, err := json.Marshal(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(encoded, &tree); err != nil {
		t.Fatal(err)
	}
	var replace func(v any) any
	replace = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for key := range v {
				if !slices.Contains([]string{"from", "to", "time", "until", "first", "last", "first_read", "last_read", "layer", "state", "action"}, key) {
					v[key] = replace(v[key])
				} else if _, ok := v[key].(map[string]any); ok {
					v[key] = replace(v[key])
				}
			}
		case []any:
			for i := range v {
				v[i] = replace(v[i])
			}
		case string:
			return text
		}
		return v
	}
	if encoded, err = json.Marshal(replace(tree)); err != nil {
		t.Fatal(err)
	}
	return decoded(t, encoded)
}
