package replay

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/caddymodule/steps/challenge"
	"github.com/caddy-robots/caddy-robots/caddymodule/steps/limit"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// Steps decide in the order of their stages, in whatever order they are given: a limit counts
// beside a challenge.
func TestOrderOfSteps(t *testing.T) {
	var log bytes.Buffer
	for i := range 20 {
		fmt.Fprintf(&log, "192.0.2.1 - - [07/Nov/2026:12:00:%02d +0000] \"GET /a/%d HTTP/1.1\" 200 5 \"-\" \"GPTBot/1.2\"\n", i, i)
	}
	held := &limit.Limits{Limits: []limits.Limit{{All: "5/1m"}}}
	asks := &challenge.Challenge{Paths: []string{"/blame/*"}}
	for _, steps := range [][]step.Step{{held}, {held, asks}, {asks, held}} {
		site := audit.Site{Robots: []audit.Version{{Name: "robots.txt", Response: judge.Response{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /x\n")}}}}
		site, _, err := With(site, steps)
		if err != nil {
			t.Fatal(err)
		}
		file := logfile.File{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log.Bytes())), nil }}
		r, err := audit.Run(t.Context(), audit.Options{Files: []logfile.File{file}, Sites: []audit.Site{site}})
		if err != nil {
			t.Fatal(err)
		}
		if r.WouldHave.Throttled < 10 {
			t.Errorf("%d steps: %d of 20 requests are over the limit", len(steps), r.WouldHave.Throttled)
		}
	}
}
