package suspect

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseBrowser(t *testing.T) {
	t.Parallel()
	for ua, want := range map[string]Browser{
		chrome:  {"Chrome", 131, 131},
		mozilla: {"Firefox", 128, 0},
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36":                            {"Chrome", 131, 131},
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/80.0.3987.87 Safari/537.36":                                   {"Chrome", 80, 80},
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/130.0.0.0":              {"Edge", 130, 131},
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36 EdgA/131.0.0.0":             {"Edge", 131, 131},
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 OPR/115.0.0.0":              {"Opera", 115, 130},
		"Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0":                                                                       {"Firefox", 132, 0},
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.4 Safari/605.1.15":                      {"Safari", 16, 0},
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1.1 Mobile/15E148 Safari/604.1":  {"Safari", 18, 0},
		"Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1":             {"Safari", 17, 0},
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/99999999999999999999999999999999.0.0 Safari/537.36": {"Chrome", maxVersion, maxVersion},
	} {
		if got, ok := ParseBrowser(ua); !ok || got != want {
			t.Errorf("%s: %+v, %t; want %+v", ua, got, ok, want)
		}
	}
	for _, ua := range []string{
		"", "Mozilla/5.0", "Mozilla/5.0 (", "curl/8.5.0", oldFox,
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
		if got, ok := ParseBrowser(ua); ok {
			t.Errorf("%s: accepted as %+v", ua, got)
		}
	}
}

// ParseBrowser rejects the User-Agents of apps and robots in a corpus of real ones,
// apart from those that are exactly a browser's.
func TestParseBrowserOnTheCorpus(t *testing.T) {
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
			if _, ok := ParseBrowser(ua); ok {
				found++
				if name == "useragents-apps.txt" {
					t.Log(ua)
				}
			}
		}
		t.Logf("%s: %d of %d", name, found, n)
		if float64(found) > most*float64(n) {
			t.Errorf("%s: ParseBrowser accepts %d of %d User-Agents", name, found, n)
		}
	}
}

func TestContradicts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ua, hints string
		want      bool
	}{
		{chrome, `"Google Chrome";v="131", "Chromium";v="131", "Not_A Brand";v="24"`, false},
		{chrome, `"Chromium";v="130", "Google Chrome";v="130"`, true},
		{chrome, `"Chromium";v="131", "HeadlessChrome";v="131"`, true},
		{chrome, `"Not;A=Brand";v="24"`, false},
		{chrome, "", false},
		{chrome, `"Chromium";v="131`, false},
		{chrome, `"Chromium";v="`, false},
		{strings.Replace(chrome, "131.0.0.0 Safari/537.36", "119.0.0.0 Safari/537.36 OPR/105.0.0.0", 1), `"Opera";v="105", "Chromium";v="119"`, false},
		{mozilla, `"Chromium";v="131"`, true},
		{mozilla, "", false},
	} {
		b, ok := ParseBrowser(tt.ua)
		if !ok || b.contradicts(tt.hints) != tt.want {
			t.Errorf("%s with %s: want %t", tt.ua, tt.hints, tt.want)
		}
	}
}

func FuzzParseBrowser(f *testing.F) {
	for _, ua := range []string{chrome, mozilla, oldFox, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.4 Safari/605.1.15"} {
		f.Add(ua, `"Chromium";v="131"`)
	}
	f.Fuzz(func(t *testing.T, ua, hints string) {
		b, ok := ParseBrowser(ua)
		if !ok {
			return
		}
		if b.Family == "" || b.Version < 0 || b.Version > maxVersion || !strings.HasPrefix(ua, "Mozilla/5.0 (") {
			t.Errorf("%q: %+v", ua, b)
		}
		if b.contradicts(hints) && hints == "" {
			t.Errorf("%q: an empty Sec-CH-UA contradicts it", ua)
		}
	})
}
