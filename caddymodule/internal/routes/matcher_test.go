package routes

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func TestMatcherText(t *testing.T) {
	for _, tt := range []struct{ match, want string }{
		{`null`, ""},
		{`[{"host":["a.test"]}]`, ""},
		{`[{"host":["a.test"],"path":["/a/*"]}]`, "path /a/*"},
		{`[{"host":["a.test"],"path":["/a/*"]},{"host":["b.test"]}]`, ""},
		{`[{"path":["/a/*","/b"],"method":["GET"]}]`, "method GET and path /a/* /b"},
		{`[{"path":["/a/*"]},{"method":["GET"]}]`, "path /a/* or method GET"},
		{`[{"not":[{"path":["/a/*"]}]}]`, "not path /a/*"},
		{`[{"not":[{"path":["/a/*"]},{"method":["GET"]}]}]`, "not (path /a/* or method GET)"},
		{`[{"not":[{"path":["/a/*"],"method":["GET"]}]}]`, "not (method GET and path /a/*)"},
		{`[{"not":[{"host":["a.test"]}]}]`, "not host …"},
		{`[{"not":[{"host":["a.test","b.test"],"path":["/a"]}]}]`, "not (host … and path /a)"},
		{`[{"header":{"User-Agent":["*GPT*"]}}]`, "header User-Agent *GPT*"},
		{`[{"query":{"b":["2"],"a":["1"]}}]`, "query a 1 b 2"},
		{`[{"expression":{"name":"x","expr":"{path} == '/'"}}]`, "expression {path} == '/'"},
		{`[{"tls":{}}]`, "tls"},
	} {
		var match any
		if err := json.Unmarshal([]byte(tt.match), &match); err != nil {
			t.Fatal(err)
		}
		if got := setsText(setsOfJSON(match), ""); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.match, got, tt.want)
		}
	}
	either := []Set{{"path": []any{"/a"}}, {"method": []any{"GET"}}}
	inside := &Route{Around: &Route{sets: either}, sets: []Set{{"query": map[string]any{"x": nil}}}}
	if got := inside.Matcher(); got != "(path /a or method GET) and query x" {
		t.Errorf("two routes: %q", got)
	}
	long := &Route{sets: []Set{{"path": []any{strings.Repeat("é", maxMatcherText)}}}}
	if got := long.Matcher(); got != "path "+strings.Repeat("é", (maxMatcherText-len("path "))/2)+"…" {
		t.Errorf("cut: %q", got)
	}
}

// The text about matchers of a running server has no values that may be secret.
func TestMatcherTextHasNoSecrets(t *testing.T) {
	sets := []caddyhttp.MatcherSet{{
		&caddyhttp.MatchNot{MatcherSets: []caddyhttp.MatcherSet{{&caddyhttp.MatchHeader{"X-Token": {"secret"}}}}},
		&caddyhttp.MatchQuery{"key": {"secret"}},
		&caddyhttp.MatchHeader{"User-Agent": {"*GPT*"}, "Authorization": {"secret"}},
		&caddyhttp.MatchExpression{Expr: "{header.X-Token} == 'secret'"},
	}}
	if got := setsText(setsOf(sets), ""); got != "expression and header Authorization User-Agent *GPT* and not header X-Token and query key" {
		t.Error(got)
	}
}
