package config

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Settings that a sub-request can't have are errors at the line forwarded_request.
// The defaults of the global option count too.
func TestForwardedRequestErrors(t *testing.T) {
	const asked = "forwarded_request x_forwarded\n"
	for text, want := range map[string]string{
		"forwarded_request":    "forwarded_request takes one value, not 0",
		"forwarded_request on": `forwarded_request "on": want off or x_forwarded or x_original`,
		asked:                  "forwarded_request: it needs a line source",
		asked + "source site\nshed {\nin_flight 9\n}":                    "shed can't work",
		asked + "source site\nmeta_robots":                               "meta_robots can't work",
		asked + "source site\nlimit {\nat_once 2\n}":                     "at_once in limit can't work",
		asked + "source site\nlimit {\neach_at_once 2\n}":                "at_once in limit can't work",
		asked + "source site\nx_robots_tag type application/pdf noindex": "x_robots_tag by type can't work",
		asked + "source site\nx_robots_tag status 404 noindex":           "x_robots_tag by status can't work",
	} {
		_, err := Parse(caddyfile.NewTestDispenser("robots {\n"+text+"\n}"), nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "at Testfile:2") {
			t.Errorf("%q:\n%v\nwant\n%s", text, err, want)
		}
	}
	for _, text := range []string{
		asked + "source url https://example.com/robots.txt", asked + "source site\nlimit {\nall 9/1m\n}\nx_robots_tag *.pdf noindex\nx_robots_tag /drafts/ noindex",
		asked + "source site\nanswer disallowed redir https://example.com/terms", asked + "source site\nanswer disallowed 451",
		"forwarded_request off\nmeta_robots",
	} {
		s, err := Parse(caddyfile.NewTestDispenser("robots {\n"+text+"\n}"), nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if err := s.Complete(nil); err != nil {
			t.Errorf("%q, from JSON: %v", text, err)
		}
	}
	defaults := &Settings{Source: &Source{Kind: SourceURL, URL: "https://example.com/robots.txt"}}
	if _, err := Parse(caddyfile.NewTestDispenser("robots {\n"+asked+"}"), defaults); err != nil {
		t.Errorf("with a source for all sites: %v", err)
	}
	defaults.Steps = caddy.ModuleMap{"shed": []byte(`{"in_flight":9}`)}
	if _, err := Parse(caddyfile.NewTestDispenser("robots {\n"+asked+"}"), defaults); err == nil {
		t.Error("shed for all sites is no error")
	}
	if _, err := Parse(caddyfile.NewTestDispenser("robots {\n"+asked+"shed off\n}"), defaults); err != nil {
		t.Errorf("shed for all sites, and off here: %v", err)
	}
	s := &Settings{}
	if err := s.Complete(&Settings{Steps: caddy.ModuleMap{"forwarded_request": []byte(`{"family":"x_original"}`)}}); err == nil || !strings.Contains(err.Error(), "it needs a line source") {
		t.Errorf("for all sites, without a source: %v", err)
	}
}
