package crawler

import (
	"strings"
	"testing"
)

// people.txt has User-Agents of people only, each once.
func TestPeopleSendTheirUserAgents(t *testing.T) {
	m := Builtin().Matcher(nil)
	seen := map[string]bool{}
	for _, agent := range peopleIndex().agents {
		if seen[agent] || strings.ContainsAny(agent, "{}\t") && !strings.Contains(agent, "FBDM={") {
			t.Errorf("listed twice, or not expanded: %s", agent)
		}
		seen[agent] = true
		var id Identity
		if m.Identify(agent, &id); len(id.Agents()) > 0 {
			t.Errorf("%s is %+v, want a person", agent, id.Agents())
		}
	}
	if len(seen) < 500 || len(seen) > 2_000 {
		t.Errorf("%d User-Agents", len(seen))
	}
}

func TestExpandPeople(t *testing.T) {
	got := strings.Join(expandPeople("# a comment\n\na = 1 | 2 | 3\nb = x | y\nA/{a} (B {b}, {b})\nC/1 = 2\n"), "\n")
	if want := "A/1 (B x, x)\nA/2 (B y, y)\nA/3 (B x, x)\nC/1 = 2"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// No token of a crawler may match the User-Agent of a person, in whatever part of it.
func TestWordsOfPeopleAreNoTokens(t *testing.T) {
	for _, token := range []string{
		"CPU", "cpu", "CPU iPhone OS", "15E148", "TV", "en_US", "de_DE", "scale", "Scale", "FB4A", "FBAV", "FBDV", "Orca-Android", "SM-G991B", "Pixel 7 Pro", "Pixel 7",
		"Redmi Note 8 Pro", "moto g54 5G", "K", "wv", "Build", "like Mac OS X", "PlayStation 5", "Nintendo Switch", "Web0S", "CrKey", "JsSdk", "BytedanceWebview",
		"AppName", "XWEB", "Weixin", "panda", "LinkedInApp", "inapp", "KHTML+", "Darwin", "Code", "com.facebook.katana", "arm64-v8a", "gzip", "Win64", "IAB", "Lumia",
		"musical_ly", "musical_ly_33.6.0", "SM-", "Orca-", "Windows NT", "rv", "Mobile", "qcom", "samsung", "HMSCore", "model",
	} {
		if !BrowserWord(token) {
			t.Errorf("%q is a token that people do not send", token)
		}
	}
	for _, token := range []string{"AcmeBot", "PixelCrawler", "CPUbot", "TVbot", "SM", "Pixel 7 Prospector", "15E14", "en_U", "Googlebot", "Scaler", ""} {
		if BrowserWord(token) {
			t.Errorf("%q is a token that people send", token)
		}
	}
}
