package managed

import (
	"errors"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func TestCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		policy Policy
		want   string
	}{
		"a preset":               {Policy{Presets: []Preset{{Name: "no-trainig", Line: 3}}}, `line 3: there is no preset "no-trainig"; did you mean no-training?: want no-ai or no-training`},
		"a preset twice":         {Policy{Presets: []Preset{{Name: "no-ai"}, {Name: "no-ai", Line: 4}}}, "line 4: preset no-ai is given twice"},
		"a purpose":              {deny("ai-trainig"), `policy, line 7: deny: the registry has no purpose and no crawler "ai-trainig"; did you mean ai-training?`},
		"a crawler":              {deny("Googelbot"), "did you mean Googlebot?"},
		"nothing like it":        {deny("qqqqqqq"), `no crawler "qqqqqqq"`},
		"no crawler":             {Policy{Deny: []Deny{{Paths: []string{"/x"}, Line: 7}}}, "line 7: deny names no purpose and no crawler"},
		"a path for a crawler":   {deny("seo", "/x"), `the path "/x" stands where`},
		"a path without slash":   {denyPath("seo", "archive/"), "starts with neither / nor *"},
		"a path with a blank":    {denyPath("seo", "/a b"), "%20"},
		"an empty path":          {denyPath("seo", ""), "a path is empty"},
		"twice":                  {deny("seo", "seo"), "deny seo is given twice (line 7)"},
		"a path of a denied":     {Policy{Deny: []Deny{{Crawlers: []string{"seo"}, Line: 1}, {Crawlers: []string{"seo"}, Paths: []string{"/x"}, Line: 2}}}, "line 2: deny seo /x adds nothing: seo is denied the whole site (line 1)"},
		"allow and deny":         {Policy{Deny: []Deny{{Crawlers: []string{"CCBot", "ai-data"}, Line: 1}}, Allow: []Allow{{Crawlers: []string{"ccbot"}, Line: 2}}}, "line 2: allow ccbot contradicts deny ccbot (line 1)"},
		"an exception to none":   {Policy{Allow: []Allow{{Crawlers: []string{"CCBot"}, Line: 2}}}, "line 2: allow CCBot is an exception to nothing: its purpose, ai-data, is not denied"},
		"allow a purpose":        {Policy{Deny: []Deny{{Crawlers: []string{"seo"}}}, Allow: []Allow{{Crawlers: []string{"seo"}, Line: 2}}}, "line 2: allow seo: that is a purpose"},
		"allow nothing":          {Policy{Allow: []Allow{{Line: 2}}}, "allow names no crawler"},
		"an unknown exception":   {Policy{Allow: []Allow{{Crawlers: []string{"CCBott"}, Line: 2}}}, "did you mean CCBot?"},
		"no duration":            {Policy{Delay: []Delay{{Crawlers: []string{"seo"}, Interval: "10", Line: 2}}}, `line 2: delay "10" is no duration: write a number and a unit`},
		"too short":              {Policy{Delay: []Delay{{Crawlers: []string{"seo"}, Interval: "1ms"}}}, "policy: delay 1ms: want 100ms to 24h0m0s"},
		"a delay for the denied": {Policy{Deny: []Deny{{Crawlers: []string{"seo"}, Line: 1}}, Delay: []Delay{{Crawlers: []string{"seo"}, Interval: "1s", Line: 2}}}, "line 2: delay seo contradicts deny seo (line 1)"},
		"two delays":             {Policy{Delay: []Delay{{Crawlers: []string{"seo"}, Interval: "1s", Line: 1}, {Crawlers: []string{"seo"}, Interval: "2s", Line: 2}}}, "line 2: delay seo is given twice (line 1)"},
		"a delay for none":       {Policy{Delay: []Delay{{Interval: "1s", Line: 1}}}, "delay names no purpose"},
		"a signal's key":         {Policy{Signal: []Preference{{Key: "ai-trian", Value: "no", Line: 5}}}, `line 5: signal: unknown key "ai-trian"; did you mean ai-train?`},
		"a signal's value":       {Policy{Signal: []Preference{{Key: "ai-train", Value: "n", Line: 5}}}, "the value of ai-train is yes or no"},
		"a signal's form":        {Policy{Signal: []Preference{{Key: "ai train", Value: "no\nAllow: /"}}}, "want key=value"},
		"signals":                {Policy{Presets: []Preset{{Name: "no-training", Line: 1}}, Signal: []Preference{{Key: "ai-train", Value: "yes", Line: 2}}}, "ai-train=no contradicts ai-train=yes (line 2)"},
		"a signal twice":         {Policy{Signal: []Preference{{Key: "search", Value: "yes", Line: 1}, {Key: "search", Value: "yes", Line: 2}}}, "line 2: signal search=yes is given twice (line 1)"},
		"a usage's value":        {Policy{Usage: []Preference{{Key: "train-ai", Value: "no", Line: 5}}}, "usage train-ai=no: the value of train-ai is y or n"},
		"a licence":              {Policy{License: []License{{URL: "/rsl.xml", Line: 6}}}, `line 6: license "/rsl.xml" is no absolute`},
		"a licence of two lines": {Policy{License: []License{{URL: "https://example.com/\nUser-agent: *"}}}, "is no absolute"},
		"a hidden path":          {Policy{Hidden: []Hidden{{Path: "s3cret", Line: 8}}}, "line 8: hidden: its path starts with neither"},
		"hidden and published":   {Policy{Deny: []Deny{{Crawlers: []string{"seo"}, Paths: []string{"/s3cret/*"}, Line: 7}}, Hidden: []Hidden{{Path: "/s3cret/", Line: 8}}}, "line 7: deny would publish the path that is hidden (line 8)"},
		"another's group":        {deny("Google-Favicon"), "Google-Favicon obeys the group of Googlebot-Image and has none of its own: name Googlebot-Image instead"},
		"too many":               {Policy{Hidden: make([]Hidden, maxStatements+1)}, "at most 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := tt.policy.Compile(crawler.Builtin())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v\nwant %q", err, tt.want)
			}
			var statement *StatementError
			if !errors.As(err, &statement) {
				t.Fatalf("%T", err)
			}
			if (l != nil) != statement.UnknownName {
				t.Errorf("unknown name: %v, lines: %v", statement.UnknownName, l != nil)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error shows a hidden path: %v", err)
			}
		})
	}
}

// Names that are unknown, and nothing else wrong, leave lines without them: a
// registry that is read later may know them.
func TestUnknownNamesLeaveLines(t *testing.T) {
	l, err := deny("ai-data", "NewBot").Compile(smallRegistry(t))
	var statement *StatementError
	if l == nil || !errors.As(err, &statement) || !statement.UnknownName {
		t.Fatalf("%v, %v", l, err)
	}
	m, err := l.Merge(nil, Options{})
	if err != nil || section(string(m.Text)) != "User-agent: Gatherer\nDisallow: /" {
		t.Errorf("%v\n%s", err, m.Text)
	}
	if l, err := deny("NewBot", "/x").Compile(smallRegistry(t)); l != nil || err == nil {
		t.Errorf("%v, %v", l, err)
	}
}

// What presets stand for, and that they leave search engines alone.
func TestPresets(t *testing.T) {
	denied := func(name string) (tokens []string) {
		l, err := Policy{Presets: []Preset{{Name: name, Line: 2}}}.Compile(crawler.Builtin())
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Beyond()) == 0 {
			t.Errorf("%s: nothing is said about what it does not reach", name)
		}
		for i, cv := range l.covers {
			if cv == nil {
				continue
			}
			row := l.registry.At(i)
			if row.Purpose == crawler.Search || !cv.both.all || cv.named.said || cv.both.line != 2 {
				t.Errorf("%s: %s: %+v", name, row.Name, cv)
			}
			tokens = append(tokens, row.Name)
		}
		return tokens
	}
	training, all := strings.Join(denied("no-training"), " "), strings.Join(denied("no-ai"), " ")
	for _, want := range []string{"GPTBot", "ClaudeBot", "CCBot", "Google-Extended", "Applebot-Extended"} {
		if !strings.Contains(training, want) || !strings.Contains(all, want) {
			t.Errorf("%s is not denied", want)
		}
	}
	for _, more := range []string{"OAI-SearchBot", "ChatGPT-User", "PerplexityBot", "Google-Agent"} {
		if strings.Contains(training, more) || !strings.Contains(all, more) {
			t.Errorf("%s: no-training %v, no-ai %v", more, strings.Contains(training, more), strings.Contains(all, more))
		}
	}
	l, _ := Policy{Presets: []Preset{{Name: "no-ai"}, {Name: "no-training"}}}.Compile(crawler.Builtin())
	if m, err := l.Merge(nil, Options{}); err != nil || !strings.Contains(string(m.Text), "\nContent-Signal: ai-train=no, ai-input=no\n") {
		t.Fatalf("%v\n%v", err, m)
	}
}
