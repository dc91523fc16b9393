package metrics

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

func init() { sitePause, turnPause = 0, 0 }

// perOrigin is a source with a text for each host.
type perOrigin map[string]string

func (s perOrigin) Fetch(_ context.Context, o judge.Origin) (judge.Response, error) {
	return judge.Response{Status: 200, Body: []byte(s[o.Host])}, nil
}

func (perOrigin) PerOrigin() bool { return true }

// logged reads the robots.txt of each host and returns the log lines at WARN and
// above: the message, then some fields as key=value.
func logged(t *testing.T, texts perOrigin, hosts ...string) []string {
	t.Helper()
	core, logs := zapobserver.New(zapcore.DebugLevel)
	o := NewReads(zap.New(core, zap.WithClock(&fixedClock{time.Unix(1e9, 0)})), "site", crawler.Builtin(), nil, nil)
	limiter := throttle.NewMemory(1)
	engine, err := enforce.NewEngine(judge.Settings{}, texts, limiter, nil, origins.Config{Fetched: o.Fetched})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for _, h := range hosts {
		r := &judge.Request{Origin: judge.Origin{Scheme: "http", Host: h}, Time: time.Now()}
		engine.Origins().Peek(r)
		engine.Origins().Wait(context.Background(), r)
	}
	reviews.working.Wait()
	o.Close()
	var list []string
	for _, e := range logs.All() {
		if e.Level < zapcore.WarnLevel {
			continue
		}
		line := e.Message
		for _, key := range []string{"origin", "token", "line", "column", "code", "text", "not_logged"} {
			if v, ok := e.ContextMap()[key]; ok {
				line += fmt.Sprintf(" %s=%v", key, v)
			}
		}
		list = append(list, line)
	}
	return list
}

func TestMistakesAreLoggedWithTheirLines(t *testing.T) {
	const at = " origin=http://a.test "
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"a file with no more than a warning": {"User-agent: *\nDisallow: /a\nNoindex: /a\n", nil},
		"a delay that does nothing":          {"User-agent: *\nDisallow: /a\nCrawl-delay: soon\n", []string{"robots.txt has a mistake" + at + "line=3 column=14 code=malformed-crawl-delay text=soon"}},
		"rules that do nothing": {
			"Disallow: /early\nUser-agent: *\nDisallow: private\n",
			[]string{
				"robots.txt has a mistake" + at + "line=1 column=1 code=rule-outside-group text=Disallow",
				"robots.txt has a mistake" + at + "line=3 column=11 code=missing-slash text=private",
			},
		},
		"a group whose token is in no User-Agent": {
			"User-agent: Google-Extended\nDisallow: /\n",
			[]string{"robots.txt has a group that no server can enforce" + at + "token=Google-Extended line=1"},
		},
		"a group whose token browsers send": {
			"User-agent: *\nDisallow:\n\nUser-agent: Mozilla\nDisallow: /\n",
			[]string{"robots.txt has a group that no server can enforce" + at + "token=Mozilla line=4"},
		},
		"binary data": {
			strings.Repeat("\x00\x01", 50),
			[]string{"the answer is no robots.txt: crawlers may fetch everything origin=http://a.test"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := logged(t, perOrigin{"a.test": tt.text}, "a.test"); !slices.Equal(got, tt.want) {
				t.Errorf("%q\nwant\n%q", got, tt.want)
			}
		})
	}
}

// Clients can invent host names, so mistakes that several hosts share are logged
// once.
func TestMistakesOfOneFileAreLoggedOnce(t *testing.T) {
	text := "User-agent: *\nDisallow: private\n"
	got := logged(t, perOrigin{"a.test": text, "b.test": text, "c.test": text + "# another\n"}, "a.test", "b.test", "c.test")
	want := []string{
		"robots.txt has a mistake origin=http://a.test line=2 column=11 code=missing-slash text=private",
		"robots.txt has a mistake origin=http://c.test line=2 column=11 code=missing-slash text=private",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

func TestLogLinesAboutMistakesAreLimited(t *testing.T) {
	texts := perOrigin{}
	var many strings.Builder
	for i := range 60 {
		fmt.Fprintf(&many, "User-agent: Mozilla/5.0 %d\nDisallow: private%d\n", i, i)
	}
	texts["many.test"] = "User-agent: *\n" + strings.Repeat("Disallow: private\n", 500)
	got := logged(t, texts, "many.test")
	if len(got) != MaxFindings+1 || !strings.HasSuffix(got[MaxFindings], " not_logged=490") {
		t.Errorf("%d lines for one file: %q", len(got), got)
	}
	var hosts []string
	for i := range 100 {
		host := fmt.Sprintf("h%d.test", i)
		hosts = append(hosts, host)
		texts[host] = fmt.Sprintf("User-agent: *\nDisallow: private%d\n%s", i, many.String())
	}
	got = logged(t, texts, hosts...)
	count := map[string]int{}
	for _, line := range got {
		message, _, _ := strings.Cut(line, " origin=")
		count[message]++
	}
	for message, n := range count {
		if n > readsLogged {
			t.Errorf("%d lines with %q for 100 files", n, message)
		}
	}
	if len(count) == 0 {
		t.Error("nothing is logged for 100 files")
	}
}

func TestClosedReviewIgnoresFiles(t *testing.T) {
	core, logs := zapobserver.New(zapcore.DebugLevel)
	r := &Reads{log: zap.New(core), registry: crawler.Builtin()}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	limiter := throttle.NewMemory(1)
	engine, err := enforce.NewEngine(judge.Settings{}, origins.Inline("Disallow: /a"), limiter, nil, origins.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	r.add(judge.Origin{}, engine.Origins().Load(context.Background()))
	reviews.working.Wait()
	if logs.Len() != 0 {
		t.Errorf("%v were logged", logs.All())
	}
}

// Sites with the same settings and file share their rules, which are reviewed once,
// also if the configuration that queued them ends before.
func TestSharedRulesAreReviewedOnce(t *testing.T) {
	core, logs := zapobserver.New(zapcore.DebugLevel)
	engine, err := enforce.NewEngine(judge.Settings{ID: t.Name()}, origins.Inline("User-agent: *\nDisallow: a\n"), throttle.NewMemory(1), nil, origins.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	rules := engine.Origins().Load(context.Background())
	blocker, ended, next := new(Reads), &Reads{log: zap.New(core), registry: crawler.Builtin()}, &Reads{log: zap.New(core), registry: crawler.Builtin()}
	blocker.running.Lock()
	blocker.closed = true
	blocker.add(judge.Origin{}, new(judge.Rules)) // waits for running
	ended.add(judge.Origin{Host: "ended.test"}, rules)
	next.add(judge.Origin{Host: "next.test"}, rules)
	if err := ended.Close(); err != nil {
		t.Fatal(err)
	}
	blocker.running.Unlock()
	reviews.working.Wait()
	ended.add(judge.Origin{Host: "late.test"}, rules)
	next.add(judge.Origin{Host: "again.test"}, rules)
	reviews.working.Wait()
	if all := logs.All(); len(all) != 1 || all[0].ContextMap()["origin"] != "://next.test" {
		t.Errorf("logged %v", all)
	}
}
