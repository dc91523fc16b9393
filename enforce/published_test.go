package enforce

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// A client that fetches a published robots.txt gets the source's present file.
func TestPublishedFileIsCurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := new(fake.Source)
		source.Set(200, "User-agent: *\nDisallow: /old/\n")
		e, err := NewEngine(judge.Settings{}, source, throttle.NewMemory(16), nil, origins.Config{Published: true})
		if err != nil {
			t.Fatal(err)
		}
		defer synctest.Wait()
		defer e.Close()
		r := &judge.Request{Target: "/robots.txt", UserAgents: []string{fake.Chrome}, Origin: fake.Home}
		var d judge.Decision
		for _, file := range []string{"User-agent: *\nDisallow: /old/\n", "User-agent: *\nDisallow: /new/\n"} {
			source.Set(200, file)
			time.Sleep(10 * time.Second)
			r.Time = time.Now()
			e.origins.Prefetch(context.Background(), r)
			e.Decide(context.Background(), r, &d)
			if text := string(d.Rules.Text()); text != file {
				t.Errorf("published %q, want %q", text, file)
			}
		}
	})
}
