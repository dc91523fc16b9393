// Package axe checks pages with axe-core, which finds violations of the accessibility
// guidelines. axe-core is fetched with npm and is no part of the project.
package axe

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
)

// version is the version of axe-core. npm checks the package's hash.
const version = "4.10.3"

// script returns axe-core's script.
var script = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "axe-core")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	pack := exec.Command("npm", "install", "--silent", "--no-save", "--prefer-offline", "--fetch-retries=5", "--ignore-scripts", "--prefix",
		folder, "axe-core@"+version)
	if out, err := pack.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm: %w: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))
	return string(text), err
})

// Load makes axe-core part of each document that a page loads from now on, whatever
// the document's Content-Security-Policy. If npm is not installed, the test is skipped.
func Load(t testing.TB, p *chromium.Page) {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("needs npm")
	}
	source, err := script()
	if err != nil {
		t.Fatal(err)
	}
	p.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(source).Do(ctx)
		return err
	}))
}

// looks are the ways in which Check looks at a page: the width of the window in CSS
// pixels, and the zoom. At a zoom of 200 %, a window is half as wide.
var looks = []struct {
	width, zoom int64
}{{390, 1}, {768, 1}, {1440, 1}, {1440, 2}}

// Check fails the test for each violation in the page: in the light and the dark mode,
// and in windows of several widths.
func Check(t testing.TB, p *chromium.Page) {
	t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		p.Run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		for _, look := range looks {
			p.Run(emulation.SetDeviceMetricsOverride(look.width/look.zoom, 900, float64(look.zoom), false))
			p.Eventually(fmt.Sprintf("the window is %d wide", look.width/look.zoom),
				fmt.Sprintf("innerWidth === %d && matchMedia('(prefers-color-scheme: %s)').matches", look.width/look.zoom, scheme))
			var found []struct {
				ID, Help string
				Nodes    []struct{ HTML, FailureSummary string }
			}
			var text string
			p.Run(chromedp.Evaluate(`axe.run(document, {resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations))`, &text,
				func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
			if err := json.Unmarshal([]byte(text), &found); err != nil {
				t.Fatal(err)
			}
			for _, v := range found {
				for _, n := range v.Nodes {
					t.Errorf("%s, %d px, zoom %d: %s: %s: %.200s: %s", scheme, look.width, look.zoom, v.ID, v.Help, n.HTML,
						strings.ReplaceAll(n.FailureSummary, "\n", " "))
				}
			}
		}
	}
}
