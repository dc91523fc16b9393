package enforce

import (
	"context"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// robotsRead lets Googlebot read a text at /robots.txt.
func robotsRead(e *Engine, client string, at time.Time, text string) {
	r := &judge.Request{Method: "GET", Target: "/robots.txt", UserAgents: []string{fake.Googlebot}, Origin: fake.Home, Client: client, Time: at}
	var d judge.Decision
	e.Decide(context.Background(), r, &d)
	e.RobotsRead(r, d.Rules, xxhash.Sum64String(text))
	e.origins.Settle()
}

// gets lets Googlebot read a text, whatever the file in force is.
func (g *graceTest) gets(text string) {
	g.clock.Advance(2 * time.Second)
	robotsRead(g.Engine, "192.0.2.1", g.clock.Now(), text)
	g.clock.Advance(time.Second)
}

// The version that a crawler read last applies to it, by its content, and not by the time at
// which it was in force.
func TestGraceByTheTextThatWasRead(t *testing.T) {
	for _, tt := range []struct {
		name            string
		read            string
		archive, others judge.Reason // of /archive/x and of /x, when the file went open, closed, open, closed, shut
	}{
		{"the first version", open, judge.Graced, judge.Graced},
		{"the second version", closed, judge.Disallowed, judge.Graced},
	} {
		g := newGraceTest(t, judge.Settings{}, origins.Config{})
		for _, file := range []string{open, closed, open, closed} {
			g.change(file)
			if file == tt.read {
				g.gets(file)
				tt.read = "" // only the first time
			}
		}
		g.change(shut)
		g.wants(tt.archive, fake.Googlebot, "/archive/x", tt.name)
		g.wants(tt.others, fake.Googlebot, "/x", tt.name)
	}
}

// If it is not known which text a crawler read, as with status 304, each version counts that was
// in force before and after the read.
func TestGraceByATextThatIsNotKnown(t *testing.T) {
	g := newGraceTest(t, judge.Settings{}, origins.Config{})
	for i, file := range []string{open, closed, open, shut} {
		g.change(file)
		if i == 0 {
			g.gets("")
		}
	}
	g.wants(judge.Graced, fake.Googlebot, "/x", "it may have read the first version")
	g.gets("")
	g.wants(judge.Disallowed, fake.Googlebot, "/x", "it read the version in force")
	for _, file := range []string{closed, shut, closed} {
		g.change(file)
	}
	g.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "it can't have read the first version")
}

// A version that was in force for long stays one that crawlers may hold, although it comes back
// for a moment.
func TestGraceOfAVersionThatComesBackForAMoment(t *testing.T) {
	g := newGraceTest(t, judge.Settings{}, origins.Config{})
	g.change(closed)
	g.change(open)
	g.decideFrom(fake.Googlebot, "192.0.2.1", "/") // never reads the file
	for _, file := range []string{closed, open, closed} {
		g.source.Set(200, file)
		g.clock.Advance(10 * time.Second)
		g.origins.Refetch(&judge.Request{Origin: fake.Home, Time: g.clock.Now()})
		g.origins.Settle()
	}
	g.wants(judge.Graced, fake.Googlebot, "/archive/x", "it may hold the version of the first minutes")
}

// A site can send another text than the one that is in force: its file has changed, or has
// changed back. The text that was sent counts.
func TestGraceByATextThatIsNotInForce(t *testing.T) {
	g := newGraceTest(t, judge.Settings{}, origins.Config{})
	g.reads(fake.Googlebot, "192.0.2.1")
	g.change(closed)
	g.gets(open)
	g.wants(judge.Graced, fake.Googlebot, "/archive/x", "the site sent the version before")
	g.gets(closed)
	g.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "the site sent the version in force")

	g.source.Set(200, open) // unnoticed until this read, of which the engine knows no version
	g.gets("User-agent: *\nDisallow: /other/\n")
	g.wants(judge.Allowed, fake.Googlebot, "/archive/x", "the read found the change")
	g.change(closed)
	g.wants(judge.Graced, fake.Googlebot, "/archive/x", "the read that found the change was of that version")
}

// What a crawler read before a reload counts after it, also with settings by which the files
// are read otherwise, and with another registry.
func TestReadsOverReloads(t *testing.T) {
	for i, settings := range []judge.Settings{{}, {}, {Strict: true}} {
		l := newReloadTest(t)
		l.published = i > 0
		l.load(siteSource(open), "", judge.Settings{})
		robotsRead(l.engine, "", l.clock.Now(), open)
		l.load(siteSource(closed), "", settings)
		l.wants(judge.Graced, fake.Googlebot, "/archive/x", "it read the version before the reload")
		robotsRead(l.engine, "", l.clock.Now(), closed)
		l.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "it read the version in force")
		l.load(siteSource(shut), "", settings)
		l.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "it had read the second version")
		l.wants(judge.Graced, fake.Googlebot, "/x", "it had read the second version")
	}

	for sent, published := range map[string]bool{closed: false, "": true} { // a policy is what was published
		g := newGraceTest(t, judge.Settings{}, origins.Config{Published: published})
		g.gets(open)
		g.change(closed)
		g.gets(sent)
		g.change(open)
		q, err := g.With(func(*judge.Settings) {}, nil)
		if err != nil {
			t.Fatal(err)
		}
		g.Engine = q
		g.change(closed)
		g.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "it had read this version before the registry changed")
		g.change(shut)
		g.wants(judge.Disallowed, fake.Googlebot, "/archive/x", "it had read the second version")
		g.wants(judge.Graced, fake.Googlebot, "/x", "it had read the second version")
	}
}
