package caddymodule

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// identifyWith runs the command as a shell does.
func identifyWith(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := identifyCommand()
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	if err := cmd.Execute(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out.String())
	}
	return out.String()
}

func TestIdentifySaysWhoAndWhy(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{gptbot}, []string{"crawler: GPTBot, OpenAI, ai-training", `"GPTBot" at`, "its own group, else *"}},
		{[]string{chrome}, []string{"person: Chrome 131.0.0.0 on Windows 10"}},
		{[]string{"curl/8.5.0"}, []string{"library: curl", "held to  its own group\n"}},
		{[]string{"--http-clients", "curl/8.5.0"}, []string{"its own group, else *"}},
		{[]string{"AdsBot-Google (+http://www.google.com/adsbot.html)"}, []string{"held to  its own group\n"}},
		{[]string{"--strict", "AdsBot-Google"}, []string{"its own group, else *"}},
		{[]string{"--robots", "../testdata/site/robots.txt", "MJ12bot"}, []string{"group MJ12bot, line 25"}},
		{[]string{"--robots", "../testdata/site/robots.txt", "curl/8.5.0"}, []string{"held to  nothing"}},
		{[]string{"Mozilla/5.0 (compatible; Googlebot/2.1; bingbot/2.0)"}, []string{"crawler: Googlebot", "crawler: bingbot"}},
	} {
		got := identifyWith(t, "", tt.args...)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q lacks %q:\n%s", tt.args, want, got)
			}
		}
	}
}

func TestIdentifyReadsLists(t *testing.T) {
	const list = gptbot + "\tGPTBot\n" + chrome + "\ncurl/8.5.0\n"
	if got := identifyWith(t, list, "--measure", "-"); !strings.Contains(got, "3 User-Agents") {
		t.Errorf("--measure: %s", got)
	}
	var measure struct {
		Total   int
		Classes map[string]int
	}
	if err := json.Unmarshal([]byte(identifyWith(t, list, "--measure", "--json", "-")), &measure); err != nil || measure.Total != 3 || measure.Classes["library"] != 1 {
		t.Errorf("--measure --json: %+v, %v", measure, err)
	}
	lines := strings.Split(strings.TrimSpace(identifyWith(t, list, "--json", "-")), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines for three User-Agents", len(lines))
	}
	var found identified
	if err := json.Unmarshal([]byte(lines[0]), &found); err != nil || found.UserAgent != gptbot || len(found.Crawlers) != 1 || found.Crawlers[0].Evidence != "GPTBot" {
		t.Errorf("%s: %v", lines[0], err)
	}
}
