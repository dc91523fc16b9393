// Package chromium starts a headless Chromium for a test. It records the requests,
// the errors on the console and the uncaught exceptions of each page.
package chromium

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds all waiting. It is long, because the machine may be busy: no
// test result depends on speed.
const patience = 2 * time.Minute

// Browser is a running Chromium with an empty profile. Its pages share cookies and
// cache. It is safe for concurrent use.
type Browser struct {
	t   testing.TB
	ctx context.Context
}

// Page is a tab. Requests and errors are recorded from its first request on.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	requests []string
	errors   []string
}

// Open starts Chromium with an empty profile. Chromium accepts any certificate, and
// ends with the test. The flags, such as chromedp.Flag, are added to its command
// line. If Chromium is not installed, the test is skipped.
func Open(t testing.TB, flags ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	path := executable()
	if path == "" {
		t.Skip("needs chromium")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.IgnoreCertErrors,
		chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("password-store", "basic"),
	)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(options, flags...)...)
	t.Cleanup(cancel)
	// The library logs events that it does not know, which are no errors.
	ctx, _ = chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) })
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("starting chromium: %v", err)
	}
	return &Browser{t, ctx}
}

func executable() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// NewPage opens a tab. It is closed when the test ends.
func (b *Browser) NewPage() *Page {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	p := &Page{t: b.t, ctx: ctx}
	chromedp.ListenTarget(ctx, p.record)
	p.Run(network.Enable(), log.Enable(), runtime.Enable())
	return p
}

// Listen calls f for each event of the tab. f must not block.
func (p *Page) Listen(f func(event any)) { chromedp.ListenTarget(p.ctx, f) }

// Run carries out actions, one after another, and ends the test if one fails.
func (p *Page) Run(actions ...chromedp.Action) {
	p.t.Helper()
	if err := p.Try(actions...); err != nil {
		p.t.Fatal(err)
	}
}

// Try carries out actions, one after another, and returns the first error.
func (p *Page) Try(actions ...chromedp.Action) error {
	// The first call of chromedp.Run creates the tab, which ends with the context.
	// So the timeout must not be in the context.
	done := make(chan error, 1)
	go func() { done <- chromedp.Run(p.ctx, actions...) }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		return fmt.Errorf("the page did not finish within %v", patience)
	}
}

// Eval returns the value of a JavaScript expression, decoded from JSON.
func Eval[T any](p *Page, expression string) (value T) {
	p.t.Helper()
	p.Run(chromedp.Evaluate(expression, &value))
	return value
}

// Eventually waits until a JavaScript expression is true. what describes the
// condition.
func (p *Page) Eventually(what, expression string) {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if Eval[bool](p, "Boolean("+expression+")") {
			return
		}
	}
	p.t.Fatalf("waited %v in vain until: %s (%s)", patience, what, expression)
}

// Screenshot writes a picture of the page, as tall as its content, to a PNG
// file.
func (p *Page) Screenshot(path string) {
	p.t.Helper()
	var picture []byte
	// Chromium does not draw a tab in the background.
	p.Run(page.BringToFront(), chromedp.FullScreenshot(&picture, 100))
	if err := os.WriteFile(path, picture, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// Requests returns the URLs of all requests so far, in order, without data: and
// blob: URLs.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Errors returns all errors so far: errors on the console, which include violations
// of the Content-Security-Policy and failed requests, and uncaught exceptions.
func (p *Page) Errors() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errors)
}

func (p *Page) record(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			p.requests = append(p.requests, url)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError {
			p.errors = append(p.errors, fmt.Sprintf("%s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError {
			var words []string
			for _, arg := range e.Args {
				words = append(words, string(arg.Value)+arg.Description)
			}
			p.errors = append(p.errors, "console: "+strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, "exception: "+e.ExceptionDetails.Error())
	}
}
