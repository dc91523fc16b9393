package managed

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

func TestCompileErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		policy Policy
		want   string
	}{
		"unknown preset":                       {Policy{Presets: []Statement{{Values: []string{"no-trainig"}, Line: 3}}}, `line 3: unknown preset "no-trainig" (the presets are no-ai and no-training); did you mean no-training?`},
		"misspelt purpose":                     {deny("ai-trainig"), `policy, line 7: deny: the registry has no purpose and no crawler "ai-trainig"; did you mean ai-training?`},
		"misspelt crawler":                     {deny("Googelbot"), "did you mean Googlebot?"},
		"unknown crawler without suggestion":   {deny("qqqqqqq"), `no crawler "qqqqqqq"`},
		"obsolete preference":                  {Policy{Usage: []Statement{{Values: []string{"train-genai=n"}, Line: 4}}}, "line 4: usage train-genai=n: the key train-genai is obsolete: write train-ai"},
		"obsolete preference without another":  {Policy{Usage: []Statement{{Values: []string{"bots=n"}, Line: 4}}}, "no key replaces it: remove it"},
		"deny without crawler":                 {Policy{Deny: []Statement{{Paths: []string{"/x"}, Line: 7}}}, "line 7: deny names no purpose and no crawler"},
		"path in place of a crawler":           {deny("seo", "/x"), `deny: "/x" is a path, but must be`},
		"path without slash":                   {denyPath("seo", "archive/"), "must start with / or *"},
		"path with a space":                    {denyPath("seo", "/a b"), "%20"},
		"empty path":                           {denyPath("seo", ""), "a path pattern is empty"},
		"allow and deny":                       {Policy{Deny: []Statement{{Values: []string{"CCBot", "ai-data"}, Line: 1}}, Allow: []Statement{{Values: []string{"ccbot"}, Line: 2}}}, "line 2: allow ccbot contradicts deny ccbot (line 1)"},
		"allow without effect":                 {Policy{Allow: []Statement{{Values: []string{"CCBot"}, Line: 2}}}, "line 2: allow CCBot has no effect: its purpose, ai-data, is not denied"},
		"allow of a purpose":                   {Policy{Deny: []Statement{{Values: []string{"seo"}}}, Allow: []Statement{{Values: []string{"seo"}, Line: 2}}}, "line 2: allow seo: that is a purpose"},
		"allow without crawler":                {Policy{Allow: []Statement{{Line: 2}}}, "allow names no crawler"},
		"allow of an unknown crawler":          {Policy{Allow: []Statement{{Values: []string{"CCBott"}, Line: 2}}}, "did you mean CCBot?"},
		"misspelt key of a signal":             {Policy{Signal: []Statement{{Values: []string{"ai-trian=no"}, Line: 5}}}, `line 5: signal: unknown key "ai-trian"; did you mean ai-train?`},
		"invalid value of a signal":            {Policy{Signal: []Statement{{Values: []string{"ai-train=n"}, Line: 5}}}, "the value of ai-train must be yes or no"},
		"signal with a space and a line break": {Policy{Signal: []Statement{{Values: []string{"ai train=no\nAllow: /"}}}}, "write key=value"},
		"contradicting signals":                {Policy{Presets: []Statement{{Values: []string{"no-training"}, Line: 1}}, Signal: []Statement{{Values: []string{"ai-train=yes"}, Line: 2}}}, "ai-train=no contradicts ai-train=yes (line 2)"},
		"invalid value of a usage":             {Policy{Usage: []Statement{{Values: []string{"train-ai=no"}, Line: 5}}}, "usage train-ai=no: the value of train-ai must be y or n"},
		"licence with a relative URL":          {Policy{License: []Statement{{Values: []string{"/rsl.xml"}, Line: 6}}}, `line 6: license "/rsl.xml" must be an absolute`},
		"licence with a line break":            {Policy{License: []Statement{{Values: []string{"https://example.com/\nUser-agent: *"}}}}, "must be an absolute"},
		"allow with a path":                    {Policy{Deny: []Statement{{Values: []string{"ai-data"}}}, Allow: []Statement{{Values: []string{"CCBot"}, Paths: []string{"/x"}, Line: 3}}}, "line 3: only deny and hidden have paths"},
		"hidden path without slash":            {Policy{Hidden: []Statement{{Values: []string{"s3cret"}, Line: 8}}}, "line 8: hidden: its path must start with"},
		"hidden path that is also denied":      {Policy{Deny: []Statement{{Values: []string{"seo"}, Paths: []string{"/s3cret/*"}, Line: 7}}, Hidden: []Statement{{Paths: []string{"/s3cret/"}, Line: 8}}}, "line 7: deny would publish a path that is hidden (line 8)"},
		"crawler without its own group":        {deny("Google-Favicon"), "Google-Favicon obeys the group of Googlebot-Image and has none of its own: write Googlebot-Image instead"},
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

// If all errors are unknown names, Compile also returns Lines without these
// names.
func TestUnknownNames(t *testing.T) {
	l, err := deny("ai-data", "NewBot").Compile(smallRegistry(t))
	var statement *StatementError
	if l == nil || !errors.As(err, &statement) || !statement.UnknownName {
		t.Fatalf("%v, %v", l, err)
	}
	m, err := l.Merge(nil, new(judge.Settings))
	if err != nil || section(string(m.Text())) != "User-agent: Gatherer\nDisallow: /" {
		t.Errorf("%v\n%s", err, m.Text())
	}
	if l, err := deny("NewBot", "/x").Compile(smallRegistry(t)); l != nil || err == nil {
		t.Errorf("%v, %v", l, err)
	}
}

// Presets deny the crawlers of certain purposes, but no search engine.
func TestPresets(t *testing.T) {
	denied := func(name string) (tokens []string) {
		p := Policy{Presets: []Statement{{Values: []string{name}, Line: 2}}}
		l, err := p.Compile(crawler.Builtin())
		if err != nil {
			t.Fatal(err)
		}
		for i, cv := range l.covers {
			if !cv.both.any() {
				continue
			}
			row := l.registry.At(i)
			if slices.Contains(row.Purposes, crawler.Search) || !cv.both.all || cv.named.any() || cv.both.line != 2 {
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
	for _, kept := range []string{"Googlebot ", "bingbot", "Applebot ", "PetalBot"} { // they have a denied purpose too
		if strings.Contains(all+" ", kept) {
			t.Errorf("%s is denied", kept)
		}
	}
	both := Policy{Presets: []Statement{{Values: []string{"no-ai"}}, {Values: []string{"no-training"}}}}
	l, _ := both.Compile(crawler.Builtin())
	if m, err := l.Merge(nil, new(judge.Settings)); err != nil || !strings.Contains(string(m.Text()), "\nContent-Signal: ai-train=no, ai-input=no\n") || strings.Contains(string(m.Text()), "Content-Usage") || both.ContentUsage() != "train-ai=n" {
		t.Fatalf("%v\n%v", err, m)
	}
}
