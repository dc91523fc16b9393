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

func TestRequestsAreServedWhileTheRegistryIsReplaced(t *testing.T) {
	started := goleak.IgnoreCurrent()
	t.Run("", serveWhileTheRegistryIsReplaced)
	if err := goleak.Find(started, reviewing); err != nil {
		t.Errorf("after Cleanup: %v", err)
	}
}

func serveWhileTheRegistryIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crawlers.jsonl")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	core, logs := zapobserver.New(zap.DebugLevel)
	source := &config.Source{Kind: config.SourceInline, Text: "User-agent: *\nDisallow: /private/\n"}
	h := provisioned(t, &Handler{Settings: config.Settings{Source: source, Registry: path}, log: zap.New(core)})
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
		write(rows.String())
		for end := time.Now().Add(20 * time.Second); logs.FilterMessageSnippet("read again").Len() <= i; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it is not read again: %v", logs.All())
			}
		}
	}
	close(stop)
	<-done
}
