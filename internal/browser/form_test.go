package browser

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	firefox    = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
	oldFirefox = "Mozilla/5.0 (X11; Linux x86_64; rv:78.0) Gecko/20100101 Firefox/78.0"
)

func TestSendsFetchFields(t *testing.T) {
	t.Parallel()
	for _, ua := range []string{
		chrome,
		firefox,
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/80.0.3987.87 Safari/537.36",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/130.0.0.0",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36 EdgA/131.0.0.0",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 OPR/115.0.0.0",
		"Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.4 Safari/605.1.15",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1.1 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/99999999999999999999999999999999.0.0 Safari/537.36",
	} {
		if !SendsFetchFields(ua) {
			t.Errorf("%s: rejected", ua)
		}
	}
	for _, ua := range []string{
		"", "Mozilla/5.0", "Mozilla/5.0 (", "curl/8.5.0", oldFirefox,
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/79.0.3945.88 Safari/537.36",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/131.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; Android 9; SM-G960F) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/12.1 Chrome/79.0.3945.136 Mobile Safari/537.36",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Slack/4.41.98 Chrome/130.0.0.0 Electron/33.0.0 Safari/537.36",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 SomeApp/1.0",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.3 Safari/605.1.15",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Safari/605.1.15",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
		"Mozilla/5.0 (compatible; ExampleBot/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
		"Mozilla/5.0 (X11; Linux x86_64; rv:102.0) Gecko/20100101 Goanna/6.0 Firefox/102.0 PaleMoon/32.0",
		"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0 SeaMonkey/2.53",
	} {
		if SendsFetchFields(ua) {
			t.Errorf("%s: accepted", ua)
		}
	}
}

// SendsFetchFields rejects the User-Agents of apps and robots in a corpus of real ones,
// apart from those that are exactly a browser's.
func TestSendsFetchFieldsOnTheCorpus(t *testing.T) {
	t.Parallel()
	corpus := os.Getenv("ROBOTS_CORPUS")
	if corpus == "" {
		t.Log("ROBOTS_CORPUS is not set: only the examples above were checked")
		return
	}
	for name, most := range map[string]float64{"useragents-apps.txt": .01, "useragents-bots.txt": .05, "useragents-browsers.txt": 1} {
		f, err := os.Open(filepath.Join(corpus, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n, found := 0, 0
		for lines := bufio.NewScanner(f); lines.Scan(); n++ {
			ua, _, _ := strings.Cut(lines.Text(), "\t")
			if SendsFetchFields(ua) {
				found++
				if name == "useragents-apps.txt" {
					t.Log(ua)
				}
			}
		}
		t.Logf("%s: %d of %d", name, found, n)
		if float64(found) > most*float64(n) {
			t.Errorf("%s: SendsFetchFields accepts %d of %d User-Agents", name, found, n)
		}
	}
}

func FuzzSendsFetchFields(f *testing.F) {
	for _, ua := range []string{chrome, firefox, oldFirefox, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.4 Safari/605.1.15"} {
		f.Add(ua)
	}
	f.Fuzz(func(t *testing.T, ua string) {
		if SendsFetchFields(ua) && !strings.HasPrefix(ua, "Mozilla/5.0 (") {
			t.Errorf("%q", ua)
		}
		IsBrowser(ua)
	})
}
