package live

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// newsWorld tells news of accidents that a test names.
type newsWorld struct {
	*watcher
	open []statusapi.Problem
}

// tell returns what is told now, such as "begin flood a.test".
func (w *newsWorld) tell() (list []string) {
	n, now := &w.app.Counters.Accidents.news, w.now
	n.look(w.open, now)
	for {
		news, ok := w.next(n, now)
		if !ok {
			return list
		}
		list = append(list, news.State+" "+news.Kind+" "+news.Sites[0])
	}
}

func newNewsWorld(sites ...string) *newsWorld {
	w := newWatcher()
	h := &Handler{Site: &routes.Site{Hosts: sites}}
	w.app.Handlers = func() []*Handler { return []*Handler{h} }
	w.Reporter = New(w.app)
	return &newsWorld{watcher: w}
}

func one(kind, site string, since time.Time) statusapi.Problem {
	p := statusapi.Problem{Kind: kind, Severity: statusapi.Severe, Crawler: "Googlebot", Since: &since, Message: "it happened", Sites: []string{site}}
	if kind == shedding {
		p.Severity = statusapi.Warning
	}
	return p
}

var shedding = statusapi.NewAccident("shedding", "It is that of a step.")

// Sites whose accidents come and go do not silence those of another, nor do warnings
// and invented sites.
func TestNoisySitesSilenceNoOthers(t *testing.T) {
	w := newNewsWorld("quiet.test", "other.test")
	noise := func(i int) (list []statusapi.Problem) {
		for n := range 32 {
			if (n+i)%2 == 0 {
				list = append(list, one(RulesLost, fmt.Sprintf("%d.test", n), w.now))
			}
			list = append(list, one(shedding, fmt.Sprintf("%d.invented.test", n+100*i), w.now))
		}
		return list
	}
	total := 0
	for i := range 100 {
		w.open = noise(i)
		list := w.tell()
		total += len(list)
		w.now = w.now.Add(10 * time.Second)
	}
	if total > maxNews-roomForMore {
		t.Errorf("%d news of noise in an hour", total)
	}
	w.open = append(noise(100), one(SearchShutOut, "quiet.test", w.now))
	if list := w.tell(); strings.Join(list, ",") != "begin search_shut_out quiet.test" {
		t.Errorf("told: %v", list)
	}
}

// A site that the configuration names is known from the start, and a host of a catch-all
// site once it had requests on two days. A restart with persist keeps that.
func TestKnownSites(t *testing.T) {
	w := newNewsWorld("named.test", statusapi.AnySite)
	visit := func(hosts ...string) {
		for _, host := range hosts {
			w.app.Counters.Site(statusapi.AnySite).Host(host).CountPerson(0)
		}
		w.pass(time.Minute)
	}
	visit("tenant.test")
	w.pass(24 * time.Hour)
	visit("tenant.test", "fresh.test")
	var file bytes.Buffer
	if err := w.app.Counters.Save(&file, nil); err != nil {
		t.Fatal(err)
	}
	w.app.Counters.Counters = counters.New(w.app.Now)
	if _, err := w.app.Counters.Load(&file); err != nil {
		t.Fatal(err)
	}
	for n := range maxNews {
		w.open = append(w.open, one(shedding, fmt.Sprintf("%d.invented.test", n), w.now))
	}
	list := w.tell()
	if len(list) != maxNews-2*roomForMore {
		t.Fatalf("%d news of invented hosts", len(list))
	}
	for _, site := range []string{"fresh.test", "named.test", "tenant.test"} {
		w.open = append(w.open, one(shedding, site, w.now))
	}
	if list := w.tell(); strings.Join(list, ", ") != "begin shedding named.test, begin shedding tenant.test" {
		t.Errorf("told: %v", list)
	}
}

// Of one kind and site, six news are told in an hour.
func TestNewsOfOneSite(t *testing.T) {
	w := newNewsWorld("a.test")
	told := 0
	for i := range 20 {
		if w.open = nil; i%2 == 0 {
			w.open = []statusapi.Problem{one(RulesLost, "a.test", w.now)}
		}
		list := w.tell()
		told += len(list)
		w.now = w.now.Add(time.Minute)
	}
	if told != newsOfOne {
		t.Errorf("%d news were told", told)
	}
	w.now = w.now.Add(time.Hour)
	list := w.tell()
	if len(list) > 0 || len(w.app.Counters.news.items) > 0 {
		t.Errorf("later: %v, %d items", list, len(w.app.Counters.news.items))
	}
}

// What is over before it could be told is never told. A site that comes back after it
// was told is.
func TestNewsThatAreOver(t *testing.T) {
	w := newNewsWorld("a.test")
	for n := range 70 {
		w.open = append(w.open, one(RulesLost, fmt.Sprintf("%d.test", n), w.now))
	}
	if list := w.tell(); len(list) != maxNews-roomForMore {
		t.Fatalf("%d are told", len(list))
	}
	w.open = w.open[:0]
	w.now = w.now.Add(61 * time.Minute)
	if list := w.tell(); len(list) != maxNews-roomForMore || strings.Contains(strings.Join(list, ","), "begin") {
		t.Errorf("an hour later: %v", list)
	}
}

// A server that is busy again and again within five minutes is one news.
func TestSheddingThatComesAndGoes(t *testing.T) {
	w := newNewsWorld("a.test")
	var all []string
	for i := range 30 {
		if w.open = nil; i%2 == 0 {
			w.open = []statusapi.Problem{one(shedding, "a.test", w.now)}
		}
		list := w.tell()
		all = append(all, list...)
		w.now = w.now.Add(time.Minute)
	}
	w.open = nil
	w.now = w.now.Add(leastFor)
	list := w.tell()
	if got := strings.Join(append(all, list...), ", "); got != "begin shedding a.test, end shedding a.test" {
		t.Error(got)
	}
}

// A flood that is ten times what it was when it was told is told again, as worse; so is
// one that is ten times that.
func TestNewsThatGetWorse(t *testing.T) {
	w := newNewsWorld("a.test")
	flood := one(Flood, "a.test", w.now)
	var got []string
	for _, now := range []int{150, 1000, 1499, 1500, 1600, 14999, 15000, 200, 15000} {
		flood.Now = now
		w.open = []statusapi.Problem{flood}
		list := w.tell()
		got = append(got, strings.Join(list, ","))
	}
	if want := "begin flood a.test|||worse flood a.test|||worse flood a.test||"; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
	held := one(Flood, "held.test", w.now)
	held.Severity = statusapi.Remark
	got = nil
	for _, severity := range []string{statusapi.Remark, statusapi.Remark, statusapi.Severe, statusapi.Remark, statusapi.Severe} {
		held.Severity = severity // what is held matters when it is held no longer
		w.open = []statusapi.Problem{flood, held}
		list := w.tell()
		got = append(got, strings.Join(list, ","))
	}
	w.open = []statusapi.Problem{flood}
	got = append(got, w.tell()...)
	held.Severity = statusapi.Remark
	w.open = []statusapi.Problem{flood, held}
	got = append(got, w.tell()...)
	w.open = nil
	got = append(got, w.tell()...)
	if want := "||begin flood held.test|||end flood held.test|end flood a.test"; strings.Join(got, "|") != want {
		t.Errorf("held: %q", got)
	}
	lost := one(RulesLost, "a.test", w.now)
	for _, now := range []int{0, 1000} {
		lost.Now = now
		w.open = []statusapi.Problem{flood, lost}
		if list := w.tell(); now > 0 && len(list) > 0 {
			t.Errorf("more rules: %q", list)
		}
	}
}

// What news say in words has no text of clients or of a robots.txt, and no host that
// clients chose is a link there.
func TestNewsInWords(t *testing.T) {
	w := newNewsWorld("shop.test", "*.hosting.test", statusapi.AnySite)
	sent := [counters.LoadMinutes]uint64{300, 300, 300, 300, 300}
	for _, tt := range []struct {
		p    statusapi.Problem
		want string
	}{
		{statusapi.Problem{Kind: SearchShutOut, Sites: []string{"shop.test"}, Subject: "shop.test", Message: "robots.txt of shop.test now disallows / to all crawlers"},
			"robots.txt of shop.test now disallows / to all crawlers"},
		{statusapi.Problem{Kind: SearchShutOut, Sites: []string{"evil.test"}, Pattern: statusapi.AnySite, Subject: "evil.test", Message: "robots.txt of evil.test now disallows /"},
			"robots.txt of evil[.]test now disallows /"},
		{statusapi.Problem{Kind: SearchShutOut, Sites: []string{"*.hosting.test", "[x](y).hosting.test"}, Subject: "[x](y).hosting.test", Message: "robots.txt of [x](y).hosting.test now disallows /"},
			"robots.txt of *.hosting.test now disallows /"},
		{statusapi.Problem{Kind: SearchShutOut, Sites: []string{statusapi.AnySite, "<@everyone>"}, Subject: "<@everyone>", Message: "robots.txt of <@everyone> now disallows /"},
			"robots.txt of this server now disallows /"},
		{statusapi.Problem{Kind: RulesLost, Sites: []string{"shop.test"}, Cause: "not_robots", Plain: "robots.txt of shop.test lost 12 of 12 rules", Subject: "shop.test", Before: 12, Advice: "evil", Message: `robots.txt of shop.test can't be used: it begins with "@everyone https://evil.test"`},
			"robots.txt of shop.test lost 12 of 12 rules"},
		{flooded(statusapi.Problem{Kind: Flood, Sites: []string{"shop.test"}, Crawler: "self-declared", Now: 300, Usual: 2},
			&counters.Load{Site: "shop.test", Crawler: "@EvilBot", Label: "self-declared", Robots: sent}, 0, false, w.now),
			"a crawler of the class self-declared sends 300 requests a minute to shop.test; 2.0 are usual"},
		{flooded(statusapi.Problem{Kind: Flood, Sites: []string{"a.hosting.test"}, Pattern: "*.hosting.test", Crawler: everybody, Now: 300},
			&counters.Load{Site: "a.hosting.test", Robots: sent}, 0, false, w.now),
			"all robots together send 300 requests a minute to a[.]hosting[.]test; how many are usual is not known before six hours"},
		{flooded(statusapi.Problem{Kind: Flood, Sites: []string{"shop.test"}, Peak: 300, Crawler: "GPTBot", Now: 200, Usual: 2},
			&counters.Load{Site: "shop.test", Crawler: "GPTBot", Label: "GPTBot", Robots: sent}, 3, true, w.now),
			"GPTBot sent up to 300 requests a minute to shop.test, until " + words.Time(w.now.Truncate(time.Minute).Add(-2*time.Minute), w.now) +
				"; 2.0 are usual"},
	} {
		n := w.newsOf(tt.p, Begins)
		if n.What != tt.want || strings.Contains(n.What+n.Advice, "evil.test") || strings.Contains(n.Advice, "evil") {
			t.Errorf("%s\nadvice %s\nwant %s", n.What, n.Advice, tt.want)
		}
		site := tt.p.Sites[0]
		if isNamed := site == "shop.test" || strings.HasPrefix(site, "*"); isNamed != (n.Pattern == "") || n.Fresh == isNamed {
			t.Errorf("%s: pattern %q, fresh %v", site, n.Pattern, n.Fresh)
		}
		tt.p.Advice = "evil " + graceAdvice
		if n := w.newsOf(tt.p, Begins); tt.p.Kind == RulesLost && n.Advice != putBack+graceAdvice+" "+acceptAdvice {
			t.Errorf("after no rules were in force: %s", n.Advice)
		}
		if ended := w.newsOf(tt.p, Ends); ended.Advice != "" {
			t.Errorf("the end: %s", ended.Advice)
		}
	}
}
