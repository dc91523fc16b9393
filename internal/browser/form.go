package browser

import "strings"

// The first versions that send Sec-Fetch-Site, -Mode and -Dest with every
// request over HTTPS: Chromium has sent all three since 80 (-Dest came last),
// Firefox since 90, Safari since 16.4 (MDN's compatibility tables of
// Sec-Fetch-Dest).
const (
	chromiumSends    = 80
	firefoxSends     = 90
	safariSends      = 16
	safariSendsMinor = 4
)

// SendsFetchFields reports whether a User-Agent is that of a browser version that always
// sends Sec-Fetch-* fields over HTTPS.
//
// It accepts only the exact User-Agents of the large browsers. It rejects those of apps
// and WebViews, which add something to them, because it is not known what these clients
// send. On iOS it rejects all browsers but Safari for the same reason.
func SendsFetchFields(userAgent string) bool {
	rest, found := strings.CutPrefix(userAgent, "Mozilla/5.0 (")
	if !found {
		return false
	}
	platform, rest, found := strings.Cut(rest, ")")
	if !found || strings.Contains(platform, "compatible") || strings.HasSuffix(platform, "; wv") {
		return false
	}
	rest, found = strings.CutPrefix(rest, " AppleWebKit/")
	if !found {
		return isFirefox(platform, rest)
	}
	if chrome, found := strings.CutPrefix(rest, "537.36 (KHTML, like Gecko) Chrome/"); found {
		return isChromium(chrome)
	}
	apple, found := strings.CutPrefix(rest, "605.1.15 (KHTML, like Gecko) Version/")
	return found && isSafari(platform, apple)
}

// isChromium parses what follows `Chrome/`.
func isChromium(s string) bool {
	major, _, s := version(s)
	s = strings.TrimPrefix(s, " Mobile")
	s, ok := strings.CutPrefix(s, " Safari/537.36")
	if !ok || major < chromiumSends {
		return false
	}
	for _, other := range [...]string{" Edg/", " EdgA/", " OPR/"} {
		if v, found := strings.CutPrefix(s, other); found {
			own, _, end := version(v)
			return end == "" && own > 0
		}
	}
	return s == ""
}

// isFirefox parses what follows the platform.
func isFirefox(platform, s string) bool {
	s, ok := strings.CutPrefix(s, " Gecko/")
	if !ok || !strings.Contains(platform, "; rv:") {
		return false
	}
	_, _, s = version(s)
	s, ok = strings.CutPrefix(s, " Firefox/")
	major, _, end := version(s)
	return ok && end == "" && major >= firefoxSends
}

// isSafari parses what follows `Version/`.
func isSafari(platform, s string) bool {
	if !strings.HasPrefix(platform, "Macintosh;") && !strings.HasPrefix(platform, "iPhone;") && !strings.HasPrefix(platform, "iPad;") {
		return false
	}
	major, minor, s := version(s)
	s = strings.TrimPrefix(s, " Mobile/15E148")
	s, ok := strings.CutPrefix(s, " Safari/")
	_, _, end := version(s)
	return ok && end == "" && (major > safariSends || major == safariSends && minor >= safariSendsMinor)
}

// version parses digits and dots. It returns the first two numbers, and what
// follows the digits and dots.
func version(s string) (major, minor int, rest string) {
	var numbers [2]int
	n := 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			if n < len(numbers) {
				numbers[n] = min(numbers[n]*10+int(c-'0'), maxVersion)
			}
		case c == '.':
			n++
		default:
			return numbers[0], numbers[1], s[i:]
		}
	}
	return numbers[0], numbers[1], ""
}

// maxVersion is the largest number of a version. Larger ones become maxVersion.
const maxVersion = 1 << 20

// browserWords are in the User-Agents of browsers and WebViews, after the platform.
var browserWords = [...]string{" Chrome/", " Safari/", " Firefox/", " Version/", " Mobile/", " FxiOS/", " CriOS/", " EdgiOS/",
	") like Gecko", " Edge/", " OPR/", " SamsungBrowser/"}

// otherWords are in the User-Agents of programs that begin like a browser's and show no
// page in a tab.
var otherWords = [...]string{"Thunderbird/", "mirall/", "Nextcloud", "ownCloud", "SeaMonkey-Mail/"}

// IsBrowser reports whether a User-Agent has the form of a browser's or of a WebView's.
func IsBrowser(ua string) bool {
	rest, ok := strings.CutPrefix(ua, "Mozilla/5.0 (")
	if !ok {
		return false
	}
	for _, word := range otherWords {
		if strings.Contains(rest, word) {
			return false
		}
	}
	for _, word := range browserWords {
		if strings.Contains(rest, word) {
			return true
		}
	}
	return false
}
