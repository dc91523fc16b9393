package caddymodule

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
)

// reviewing leaves out reviews: after each comes a pause, which is as long as the machine
// is slow.
var reviewing = goleak.IgnoreAnyFunction("github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics.(*review).reviewAll")

// registryWriter writes a registry file and waits for log lines.
type registryWriter struct {
	*testing.T
	path string
	logs *zapobserver.ObservedLogs
}

func (w registryWriter) write(text string) {
	w.Helper()
	if err := os.WriteFile(w.path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// logged waits for n log lines that contain a text, and returns them.
func (w registryWriter) logged(n int, text string) []zapobserver.LoggedEntry {
	w.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if found := w.logs.FilterMessageSnippet(text).All(); len(found) >= n {
			return found
		}
		if time.Now().After(end) {
			w.Fatalf("%q was not logged %d times: %v", text, n, w.logs.All())
		}
	}
}

// watched provisions a handler with a registry file.
func watched(t *testing.T, h *Handler, text string) registryWriter {
	t.Helper()
	core, logs := zapobserver.New(zap.DebugLevel)
	w := registryWriter{t, filepath.Join(t.TempDir(), "crawlers.jsonl"), logs}
	w.write(text)
	h.Registry, h.log = w.path, zap.New(core)
	provisioned(t, h)
	return w
}

func TestRequestsAreServedWhileTheRegistryIsReplaced(t *testing.T) {
	started := goleak.IgnoreCurrent()
	t.Run("", serveWhileTheRegistryIsReplaced)
	if err := goleak.Find(started, reviewing); err != nil {
		t.Errorf("after Cleanup: %v", err)
	}
}

func serveWhileTheRegistryIsReplaced(t *testing.T) {
	h := &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: "User-agent: *\nDisallow: /private/\n"}}}
	w := watched(t, h, "")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for ua, want := range map[string]int{googlebot: 403, chrome: 200, "NewThingBot/1.0": 403} {
				if got := serve(t, h, request(ua, "/private/")).Code; got != want {
					t.Errorf("%s: %d, want %d", ua, got, want)
				}
			}
		}
	}()
	for i := range 5 {
		var rows strings.Builder
		for n := range 5 - i {
			fmt.Fprintf(&rows, "{\"name\": \"OneThing%d\"}\n", n)
		}
		w.write(rows.String())
		w.logged(i+1, "read again")
	}
	close(stop)
	<-done
}
