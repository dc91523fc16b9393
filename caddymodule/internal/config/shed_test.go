package config

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Errors in shed name the line.
func TestShedErrors(t *testing.T) {
	for text, want := range map[string]string{
		"shed":                                  "shed needs in_flight or latency: the load above which robots are refused, at Testfile:2",
		"shed {\n}":                             "shed needs in_flight or latency",
		"shed {\nfirst seo\n}":                  "shed needs in_flight or latency",
		"shed 64":                               `shed: unexpected "64": it takes its options in a block, at Testfile:2`,
		"shed {\nin_flight 0\n}":                `in_flight: "0" is not a whole number from 1 to 1000000, at Testfile:3`,
		"shed {\nlatency 1ms\n}":                "latency: 1ms is below 10ms, at Testfile:3",
		"shed {\nlatency 1h\n}":                 "shed latency 1h0m0s is not between 10ms and 10m0s",
		"shed {\nlatency 2s\nfirst search\n}":   "search needs in_flight",
		"shed {\nlatency 2s\nfirst shopping\n}": "shopping needs in_flight",
		"shed {\nin_flight 9\nfirst seo\nfirst ai-*\n}": "first is given twice",
		"shed {\nin_flight 9\nfirst ai-trainig\n}":      `shed first "ai-trainig": no crawler has this purpose: did you mean ai-training?, at Testfile:4`,
		"shed {\nin_fligt 9\n}":                         `unknown subdirective "in_fligt": did you mean in_flight?`,
	} {
		_, _, err := Parse(caddyfile.NewTestDispenser("robots {\n"+text+"\n}"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n%v\nwant\n%s", text, err, want)
		}
	}
	text := "robots {\nshed {\nin_flight 64\nlatency 2s\nfirst press ai-* self-declared search\n}\ncrawler PressBot {\npurpose press\n}\n}"
	s, off, err := Parse(caddyfile.NewTestDispenser(text), nil)
	if err != nil || s.Shed.Line != 2 || s.Shed.File != "Testfile" {
		t.Errorf("%+v, %v", s.Shed, err)
	}
	if err := s.Complete(nil, off); err != nil {
		t.Error(err)
	}
	if err := new(Settings).Complete(&s, []string{"shed"}); err != nil {
		t.Error(err)
	}
}

// JSON has no lines: what the parser checks with a line, CheckNames checks as well.
func TestChecksOfSettingsInJSON(t *testing.T) {
	for name, want := range map[string]string{"gptbot": "", "seo": "", "GPTBott": "did you mean GPTBot?"} {
		err := new(Settings{Mode: ModeMonitor, Enforced: []string{name}}).CheckNames(crawler.Builtin())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("enforce %s: %v, want %q", name, err, want)
		}
	}
}
