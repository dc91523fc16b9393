package crawler

import (
	"strings"

	"github.com/mssola/useragent"
)

// UnknownPart stands in a [Description] for a part that the User-Agent does not
// state, or not reliably.
const UnknownPart = "unknown"

// Description is what a person's User-Agent says of the browser, the system and the device: for logs and reports, never for a decision.
// Each string has at most 64 octets.
type Description struct {
	Browser        string `json:"browser"`                   // such as "Chrome"; "unknown" for apps, their views of pages, and rare browsers
	BrowserVersion string `json:"browser_version,omitempty"` // as sent; empty where Browser is "unknown"
	Engine         string `json:"engine"`                    // such as "AppleWebKit"
	System         string `json:"system"`                    // such as "Windows 10 or 11", "iOS 17.4", "Android 13"
	Device         string `json:"device,omitempty"`          // a mobile device's model; empty for computers, and where browsers hide it
	Mobile         bool   `json:"mobile,omitempty"`          // a telephone or a tablet
}

// Describe says which browser, system and device a person's User-Agent claims. The parts are those that github.com/mssola/useragent finds, where
// nothing in the User-Agent says that it is another browser or an app around one. It reads the first [MaxUserAgent] octets and allocates:
// not for the request path.
func Describe(ua string) Description {
	d := Description{Browser: UnknownPart, Engine: UnknownPart, System: UnknownPart}
	ua = cut(ua)
	u := parse(ua)
	if u == nil {
		return d
	}
	words := outerWords(ua)
	if words.mainstream && browsers[first(u.Browser())] && !strings.Contains(ua, "; wv)") {
		d.Browser, d.BrowserVersion = u.Browser()
		d.BrowserVersion = bounded(d.BrowserVersion)
	}
	if engine, _ := u.Engine(); engines[engine] {
		d.Engine = engine
	}
	d.System = system(u.OSInfo(), ua)
	d.Mobile = u.Mobile()
	if model := u.Model(); d.Mobile && model != "" && model != "K" { // K: Chrome's reduced User-Agent
		d.Device = bounded(strings.TrimPrefix(model, "SAMSUNG "))
	}
	if d.Browser == "Safari" && d.Mobile && !words.version {
		d.Browser, d.BrowserVersion = UnknownPart, "" // an app's view of a page
	}
	return d
}

// browsers and engines are the names of the library's that are reliable where no other product stands beside them.
var (
	browsers = set("Chrome", "Chromium", "Firefox", "Safari", "Edge", "Opera", "Internet Explorer")
	engines  = set("AppleWebKit", "Gecko", "Trident", "Presto", "EdgeHTML")
)

// outer is what the words outside comments indicate.
type outer struct {
	mainstream bool // all of them are those of the mainstream browsers
	version    bool // Safari's version is among them
}

// outerProducts are the words outside comments that the mainstream browsers send.
var outerProducts = set("mozilla", "applewebkit", "gecko", "chrome", "chromium", "safari", "version", "mobile", "tablet", "firefox", "edg", "edge", "edga", "edgios",
	"opr", "opera", "presto", "crios", "fxios", "like")

func outerWords(ua string) outer {
	words := outer{mainstream: true}
	depth := 0
	for i := 0; i < len(ua); {
		hash, n := firstWord(ua[i:])
		switch {
		case n == 0:
			switch ua[i] {
			case '(', '[':
				depth++
				words.mainstream = words.mainstream && ua[i] == '('
			case ')', ']':
				depth = max(depth-1, 0)
			}
			n = 1
		case i > 0 && (ua[i-1] == '/' || ua[i-1] == '.'): // a version
		case depth == 0:
			word := strings.ToLower(ua[i : i+n])
			s := baseTable.find(hash)
			words.version = words.version || word == "version"
			words.mainstream = words.mainstream && (outerProducts[word] || s != nil && s.role&roleUnix != 0)
		default: // in a comment: a console's or a television's browser is its own
			s := baseTable.find(hash)
			words.mainstream = words.mainstream && (s == nil || s.role&roleMobile == 0 || s.role&(roleAndroid|roleForm|roleNoise) != 0)
		}
		i += n
	}
	return words
}

// system names the operating system, with its version where browsers send the true one.
func system(info useragent.OSInfo, ua string) string {
	name, version := info.Name, strings.TrimSpace(info.Version)
	switch {
	case strings.Contains(ua, "Windows NT 10.0"):
		return "Windows 10 or 11" // browsers send no more of it
	case name == "iPhone OS":
		name = "iOS"
	case name == "OS" && strings.Contains(ua, "iPad"):
		name = "iPadOS"
	case strings.HasSuffix(name, "Mac OS X"):
		name = "Mac OS X"
		if version == "10.15.7" || version == "10.15" {
			version = "10.15 or later"
		}
	case name == "Android" && version == "10" && strings.Contains(ua, "Android 10; K)"):
		version = "10 or later"
	case strings.HasPrefix(name, "CrOS"):
		name, version = "ChromeOS", ""
	}
	hash, _ := firstWord(name)
	if s := baseTable.find(hash); s == nil || s.role&(rolePlatform|roleUnix|roleAndroid) == 0 {
		return UnknownPart
	}
	return bounded(strings.TrimSpace(name + " " + version))
}

// bounded cuts what clients make up to 64 octets.
func bounded(s string) string { return s[:min(len(s), 64)] }

func first[A, B any](a A, _ B) A { return a }

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// parse returns nil where the library fails on what clients make up.
func parse(ua string) (u *useragent.UserAgent) {
	defer func() {
		if recover() != nil {
			u = nil
		}
	}()
	return useragent.New(ua)
}
