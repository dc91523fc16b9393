package commands_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

const (
	chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	gptbot = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
)

// identifyWith runs the command and returns its output.
func identifyWith(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	status, stdout, stderr := commandline.Run(stdin, append([]string{"identify"}, args...)...)
	if status != 0 {
		t.Fatalf("%q: exit status %d\n%s", args, status, stderr)
	}
	return stdout
}

func TestIdentify(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{gptbot}, []string{"crawler: GPTBot, OpenAI, ai-training", `"GPTBot" at`, "its own group, else *", "evidence token: "}},
		{[]string{"AcmeBot/1.0"}, []string{"self-declared: AcmeBot", "evidence declaration: "}},
		{[]string{"SiteSweeper/2.0"}, []string{"program: SiteSweeper", "evidence form: "}},
		{[]string{"Stripe/1.0 (+https://stripe.com/docs/webhooks)"}, []string{"webhook: Stripe, Stripe, webhook", "obeys    its own group\n"}},
		{[]string{chrome}, []string{"person: Chrome 131.0.0.0 on Windows 10 or 11"}},
		{[]string{"curl/8.5.0"}, []string{"library: curl", "obeys    its own group\n"}},
		{[]string{"--http-clients", "curl/8.5.0"}, []string{"its own group, else *"}},
		{[]string{"AdsBot-Google (+http://www.google.com/adsbot.html)"}, []string{"obeys    its own group\n"}},
		{[]string{"--strict", "AdsBot-Google"}, []string{"its own group, else *"}},
		{[]string{"--robots", "../../testdata/site/robots.txt", "MJ12bot"}, []string{"group MJ12bot, line 25"}},
		{[]string{"--robots", "../../testdata/site/robots.txt", "curl/8.5.0"}, []string{"obeys    nothing"}},
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

func TestIdentifyPrintsJSON(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(identifyWith(t, "", "--json", gptbot, chrome, "curl/8.5.0")), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines for three User-Agents", len(lines))
	}
	var found struct {
		UserAgent string `json:"user_agent"`
		Crawlers  []struct {
			Evidence string
		}
	}
	if err := json.Unmarshal([]byte(lines[0]), &found); err != nil || found.UserAgent != gptbot || len(found.Crawlers) != 1 || found.Crawlers[0].Evidence != "GPTBot" {
		t.Errorf("%s: %v", lines[0], err)
	}
}

// Control characters in User-Agents are escaped.
func TestIdentifyEscapesControlCharacters(t *testing.T) {
	got := identifyWith(t, "", "Evil\x1b[2JBot/1.0\n    person: nobody")
	if strings.ContainsAny(got, "\x1b") || strings.Contains(got, "\n    person") || !strings.Contains(got, `\x1b[2J`) {
		t.Errorf("%q", got)
	}
}

func TestIdentifyWithRegistryFile(t *testing.T) {
	const ua = "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/130.0 OneThing/1.0"
	file := filepath.Join(t.TempDir(), "crawlers.jsonl")
	if err := os.WriteFile(file, []byte(`{"name": "Thing", "operator": "Us", "purposes": ["archive"], "user_agents": ["OneThing"], "robots": ["Thing", "Any"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := identifyWith(t, "", ua); !strings.Contains(got, "person: unknown browser or app on Linux") {
		t.Errorf("without the file:\n%s", got)
	}
	got := identifyWith(t, "", "--registry", file, ua)
	for _, want := range []string{"crawler: Thing, Us, archive", "tokens   Thing, Any", `"OneThing" at`} {
		if !strings.Contains(got, want) {
			t.Errorf("with the file, lacks %q:\n%s", want, got)
		}
	}
}

func TestIdentifyReadsRobotsFromStandardInput(t *testing.T) {
	got := identifyWith(t, "User-agent: Thing9\nDisallow: /\n", "--robots", "-", "Thing9/1.0")
	if !strings.Contains(got, "obeys    group Thing9, line 1") {
		t.Error(got)
	}
}
