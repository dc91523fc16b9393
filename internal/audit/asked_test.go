package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

var askedReason = judge.RegisterReason(judge.ReasonInfo{Name: "asked_in_a_test", Action: judge.Ask})

// asking is a chain that asks all browsers for a folder, and has met the requests in the order of
// their times.
type asking struct {
	t    *testing.T
	last time.Time
}

func (c *asking) Decide(v *Judged, d *judge.Decision, _ *enforce.Replay) {
	if v.Time.Before(c.last) {
		c.t.Errorf("%s comes after %s", v.Time, c.last)
	}
	c.last = v.Time
	if d.Agent.Class == crawler.Person && strings.HasPrefix(v.Target, "/blame/") {
		d.Refuse(askedReason, &judge.Place{Text: "ask /blame/*"}, 0)
	}
}

func (*asking) Resolution() time.Duration { return 0 }

// What a step asks is counted by who is alone, and is no request that would not be affected.
func TestAsked(t *testing.T) {
	log := newLonelyLog()
	for i := range 200 {
		log.add(i/4, fmt.Sprintf("198.51.100.%d", i), fmt.Sprintf("/blame/%d", i), "-", chrome141)
	}
	log.add(3, "192.0.2.7", "/blame/x", "-", chrome141)
	r := log.report(t, func(o *Options) {
		o.Sites = oneSite("User-agent: *\nDisallow: /private/\n")
		o.Sites[0].Chain = func() (Chain, error) { return &asking{t: t}, nil }
	})
	if len(r.Strangers.Asked) != 1 {
		t.Fatalf("%+v", r.Strangers.Asked)
	}
	if a := r.Strangers.Asked[0]; a.Line != "ask /blame/*" || a.Requests != 200 || a.Addresses < 190 || a.Others != 1 {
		t.Errorf("%+v", a)
	}
	const want = "600 requests with browsers' User-Agents would not be affected"
	if text := strings.Join(r.Summary, " "); !strings.Contains(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
	if f := findingOf(r, "disguised"); !strings.Contains(f.Text, "By `ask /blame/*`, 200 pages") || f.Change != "" {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(fmt.Sprint(r.Sections(10)), "Strangers that would have been asked") {
		t.Error("no section")
	}
}
