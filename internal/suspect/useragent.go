package suspect

import "strings"

// Browser is a browser and its major version, as a User-Agent names them.
type Browser struct {
	Family  string // Chrome, Edge, Opera, Firefox or Safari
	Version int    // major version
	engine  int    // major version of Chromium; 0 for other engines
}

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

// ParseBrowser returns the browser that a User-Agent names. ok is true only for
// browser versions that always send Sec-Fetch-* fields over HTTPS.
//
// ParseBrowser accepts only the exact User-Agents of the large browsers. It rejects
// those of apps and WebViews, which add something to them, because it is not known
// what these clients send. On iOS it rejects all browsers but Safari for the same
// reason.
func ParseBrowser(userAgent string) (b Browser, ok bool) {
	rest, found := strings.CutPrefix(userAgent, "Mozilla/5.0 (")
	if !found {
		return b, false
	}
	platform, rest, found := strings.Cut(rest, ")")
	if !found || strings.Contains(platform, "compatible") || strings.HasSuffix(platform, "; wv") {
		return b, false
	}
	if rest, found = strings.CutPrefix(rest, " AppleWebKit/"); !found {
		return firefox(platform, rest)
	}
	if chrome, found := strings.CutPrefix(rest, "537.36 (KHTML, like Gecko) Chrome/"); found {
		return chromium(chrome)
	}
	if apple, found := strings.CutPrefix(rest, "605.1.15 (KHTML, like Gecko) Version/"); found {
		return safari(platform, apple)
	}
	return b, false
}

// chromium parses what follows `Chrome/`.
func chromium(s string) (b Browser, ok bool) {
	major, _, s := version(s)
	s = strings.TrimPrefix(s, " Mobile")
	s, ok = strings.CutPrefix(s, " Safari/537.36")
	if !ok || major < chromiumSends {
		return b, false
	}
	b = Browser{Family: "Chrome", Version: major, engine: major}
	if s == "" {
		return b, true
	}
	for _, other := range [...]struct{ token, family string }{{" Edg/", "Edge"}, {" EdgA/", "Edge"}, {" OPR/", "Opera"}} {
		if v, found := strings.CutPrefix(s, other.token); found {
			var end string
			b.Family = other.family
			b.Version, _, end = version(v)
			return b, end == "" && b.Version > 0
		}
	}
	return Browser{}, false
}

// firefox parses what follows the platform.
func firefox(platform, s string) (b Browser, ok bool) {
	s, ok = strings.CutPrefix(s, " Gecko/")
	if !ok || !strings.Contains(platform, "; rv:") {
		return b, false
	}
	_, _, s = version(s)
	if s, ok = strings.CutPrefix(s, " Firefox/"); !ok {
		return b, false
	}
	major, _, end := version(s)
	return Browser{Family: "Firefox", Version: major}, end == "" && major >= firefoxSends
}

// safari parses what follows `Version/`.
func safari(platform, s string) (b Browser, ok bool) {
	if !strings.HasPrefix(platform, "Macintosh;") && !strings.HasPrefix(platform, "iPhone;") && !strings.HasPrefix(platform, "iPad;") {
		return b, false
	}
	major, minor, s := version(s)
	s = strings.TrimPrefix(s, " Mobile/15E148")
	if s, ok = strings.CutPrefix(s, " Safari/"); !ok {
		return b, false
	}
	_, _, end := version(s)
	sends := major > safariSends || major == safariSends && minor >= safariSendsMinor
	return Browser{Family: "Safari", Version: major}, end == "" && sends
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

// contradicts reports whether the value of Sec-CH-UA, a list such as
//
//	"Chromium";v="131", "Google Chrome";v="131", "Not_A Brand";v="24"
//
// contradicts the browser that the User-Agent names. All browsers with the Chromium
// engine send its version under the brand Chromium. Other brands are not compared:
// their names and versions may be anything. Sec-CH-UA-Platform and -Mobile are not
// compared either: telephones that request the desktop version of a page send
// values there that contradict the User-Agent.
func (b Browser) contradicts(hints string) bool {
	if hints == "" {
		return false
	}
	if b.engine == 0 {
		return true // Firefox and Safari do not send the field
	}
	if strings.Contains(hints, "Headless") {
		return true
	}
	_, after, found := strings.Cut(hints, `"Chromium";v="`)
	if !found {
		return false
	}
	major, _, rest := version(after)
	return strings.HasPrefix(rest, `"`) && major != b.engine
}

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
