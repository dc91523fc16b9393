package enforce

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// modelVersion is a version of a file. It disallows some of the paths /1 to /4.
type modelVersion struct {
	disallows   [4]bool
	from, until time.Time
}

// modelCrawler is what the model knows about a crawler.
type modelCrawler struct {
	ua   string
	came bool      // it has come at least once
	at   time.Time // of the first visit
	read int       // index of the version that it read last; -1 for none
	then time.Time // of that read
}

// The engine must decide like a simple model, for random changes, visits and
// reads: a crawler is denied a path if the version in force disallows it, and
// so does each version that the crawler may have a copy of.
func TestGraceAgainstAModel(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		g := newGraceTest(t, judge.Settings{Grace: judge.GraceAll}, origins.Config{})
		versions := []modelVersion{{from: g.clock.Now()}}
		crawlers := []*modelCrawler{{ua: fake.Googlebot, read: -1}, {ua: fake.Gptbot, read: -1}, {ua: fake.Newbot, read: -1}}
		come := func(c *modelCrawler) {
			if !c.came {
				c.came, c.at = true, g.clock.Now()
			}
		}
		graced := 0
		for step := range 300 {
			g.clock.Advance(time.Duration(rnd.IntN(100)) * time.Minute)
			c := crawlers[rnd.IntN(len(crawlers))]
			switch rnd.IntN(10) {
			case 0:
				if recent(versions, g.clock.Now()) == judge.MaxVersions {
					break
				}
				v := modelVersion{}
				file := fmt.Sprintf("User-agent: *\nDisallow: /unique/%d\n", step)
				for i := range v.disallows {
					if v.disallows[i] = rnd.IntN(2) == 0; v.disallows[i] {
						file += fmt.Sprintf("Disallow: /%d\n", i+1)
					}
				}
				g.change(file)
				v.from = g.clock.Now().Add(-time.Second)
				versions[len(versions)-1].until = v.from
				versions = append(versions, v)
			case 1:
				g.reads(c.ua, "192.0.2.1")
				if !c.came {
					c.came, c.at = true, g.clock.Now().Add(-time.Second)
				}
				c.read, c.then = len(versions)-1, g.clock.Now().Add(-time.Second)
			default:
				come(c)
				path := rnd.IntN(4)
				want := c.wantedReason(versions, path, g.clock.Now())
				if want == judge.Graced {
					graced++
				}
				if d := g.decideFrom(c.ua, "192.0.2.1", fmt.Sprintf("/%d", path+1)); d.Reason != want {
					t.Fatalf("seed %d, step %d, %.40s for /%d: %v, want %v", seed, step, c.ua, path+1, d.Reason, want)
				}
			}
			for _, c := range crawlers { // each crawler comes at least once a day
				if c.came {
					g.decideFrom(c.ua, "192.0.2.1", "/")
				}
			}
		}
		if graced == 0 {
			t.Errorf("seed %d: no request had a grace", seed)
		}
	}
}

// wantedReason returns the model's decision for a path.
func (c *modelCrawler) wantedReason(versions []modelVersion, path int, now time.Time) judge.Reason {
	if !versions[len(versions)-1].disallows[path] {
		return judge.Allowed
	}
	for i, v := range versions[:len(versions)-1] {
		holds := c.read == i && now.Sub(c.then) < 24*time.Hour || c.read < 0 && c.at.Before(v.until)
		if holds && now.Sub(v.until) < 24*time.Hour && !v.disallows[path] {
			return judge.Graced
		}
	}
	return judge.Disallowed
}

// recent counts the earlier versions that were replaced less than a day ago.
func recent(versions []modelVersion, now time.Time) (n int) {
	for _, v := range versions[:len(versions)-1] {
		if now.Sub(v.until) < 25*time.Hour {
			n++
		}
	}
	return n
}
