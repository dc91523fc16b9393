package browser

import (
	"strings"
	"testing"
)

const (
	chrome     = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36"
	safariIOS  = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1"
	webViewIOS = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
	androidUA  = "Mozilla/5.0 (Linux; Android 13; Pixel 7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36"
	webViewUA  = "Mozilla/5.0 (Linux; Android 13; Pixel 7; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/124.0.0.0 Mobile Safari/537.36"
)

func TestDescribe(t *testing.T) {
	const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4.1 Safari/605.1.15"
	for _, c := range []struct {
		ua                               string
		browser, version, system, device string
		mobile                           bool
	}{
		{chrome, "Chrome", "124.0.0.0", "Windows 10 or 11", "", false},
		{chrome + " Edg/124.0.2478.51", "Edge", "124.0.2478.51", "Windows 10 or 11", "", false},
		{chrome + " OPR/110.0.0.0", "Opera", "110.0.0.0", "Windows 10 or 11", "", false},
		{"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0", "Firefox", "125.0", "Ubuntu", "", false},
		{"Mozilla/5.0 (Android 14; Mobile; rv:125.0) Gecko/125.0 Firefox/125.0", "Firefox", "125.0", "Android 14", "", true},
		{mac, "Safari", "17.4.1", "Mac OS X 10.15 or later", "", false},
		{safariIOS, "Safari", "17.4", "iOS 17.4", "iPhone", true},
		{"Mozilla/5.0 (iPad; CPU OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/124.0.6367.71 Mobile/15E148 Safari/604.1", "Chrome", "124.0.6367.71", "iPadOS 17.4", "iPad", true},
		{androidUA, "Chrome", "124.0.0.0", "Android 13", "Pixel 7", true},
		{"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36", "Chrome", "124.0.0.0", "Android 10 or later", "", true},
		{"Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)", "Internet Explorer", "6.0", "Windows XP", "", false},
		{"Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko", "Internet Explorer", "11.0", "Windows 7", "", false},
		{"Opera/9.80 (Windows NT 6.1; WOW64) Presto/2.12.388 Version/12.18", "Opera", "9.80", "Windows 7", "", false},
		{"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36", "Chrome", "124.0.0.0", "ChromeOS", "", false},

		// browsers that the library reports as others
		{chrome + " Vivaldi/6.7", "unknown", "", "Windows 10 or 11", "", false},
		{mac + " Ddg/17.4", "unknown", "", "Mac OS X 10.15 or later", "", false},
		{"Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/24.0 Chrome/117.0.0.0 Mobile Safari/537.36", "unknown", "", "Android 13", "SM-S918B", true},
		{"Mozilla/5.0 (PlayStation; PlayStation 5/8.60) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.4 Safari/605.1.15", "unknown", "", "PlayStation 5/8.60", "", false},
		{"Mozilla/5.0 (SMART-TV; LINUX; Tizen 7.0) AppleWebKit/537.36 (KHTML, like Gecko) 94.0.4606.31/7.0 TV Safari/537.36", "unknown", "", "Tizen 7.0", "", false},
		// apps, some of which show pages
		{webViewUA, "unknown", "", "Android 13", "Pixel 7", true},
		{webViewIOS, "unknown", "", "iOS 17.4", "iPhone", true},
		{webViewIOS + " Instagram 330.0.3.29.109 (iPhone14,5; iOS 17_4; de_DE; de; scale=3.00)", "unknown", "", "iOS 17.4", "iPhone", true},
		{safariIOS + " [FBAN/FBIOS;FBAV/460.0.0.48.109;]", "unknown", "", "iOS 17.4", "iPhone", true},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Slack/4.37.101 Chrome/122.0.6261.156 Electron/29.2.0 Safari/537.36", "unknown", "", "Windows 10 or 11", "", false},
		{"Chatbot/42 CFNetwork/1485 Darwin/23.1.0", "unknown", "", "unknown", "", false},
		{"iRobot Home/6.0 (iPhone; iOS 17.0; Scale/3.00)", "unknown", "", "unknown", "", false},
	} {
		d := Describe(c.ua)
		if d.Browser != c.browser || d.BrowserVersion != c.version || d.System != c.system || d.Device != c.device || d.Mobile != c.mobile {
			t.Errorf("%q:\n%+v, want %+v", c.ua, d, c)
		}
	}
	for _, ua := range []string{"", "(", ")", "((((", "/", strings.Repeat("(", 64<<10), "\xff\xfe", "Mozilla/5.0 (", strings.Repeat("[", 100)} {
		if d := Describe(ua); d.Browser != UnknownPart {
			t.Errorf("%.40q: %+v", ua, d)
		}
	}
}

func FuzzDescribe(f *testing.F) {
	for _, ua := range []string{chrome, safariIOS, webViewUA, "Mozilla/5.0 (;;;) ()", "Opera/9.80 ["} {
		f.Add(ua)
	}
	f.Fuzz(func(t *testing.T, ua string) {
		d := Describe(ua)
		for _, part := range []string{d.Browser, d.BrowserVersion, d.Engine, d.System, d.Device} {
			if len(part) > 64 {
				t.Errorf("%q: a part has %d octets, want at most 64", ua, len(part))
			}
		}
		if d.Browser == "" || d.Engine == "" || d.System == "" || d.Browser == UnknownPart && d.BrowserVersion != "" {
			t.Errorf("%q: %+v", ua, d)
		}
	})
}
