// Package browser knows the User-Agents of browsers: their form and what they always send, and, for reports, the browser, the system and the
// device that they state.
package browser

import (
	"slices"
	"strings"

	"github.com/mssola/useragent"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// UnknownPart is the value of a field of [Description] that the User-Agent does
// not state, or not reliably.
const UnknownPart = "unknown"

// Description is the browser, the system and the device that a person's User-Agent states. It is for logs and reports, never for a
// decision, because clients can send anything. Each string has at most 64 octets.
type Description struct {
	// such as "Chrome"; "unknown" for apps, for pages shown by an app, and for rare browsers
	Browser        string `json:"browser"`
	BrowserVersion string `json:"browser_version,omitempty"` // as sent; empty if Browser is "unknown"
	Engine         string `json:"engine"`                    // such as "AppleWebKit"
	System         string `json:"system"`                    // such as "Windows 10 or 11", "iOS 17.4", "Android 13"
	Device         string `json:"device,omitempty"`          // a mobile device's model; empty for computers, and if the browser hides it
	Mobile         bool   `json:"mobile,omitempty"`          // a telephone or a tablet
}

// Describe returns the browser, system and device that a person's User-Agent states, as github.com/mssola/useragent finds them. Browser is
// "unknown" if a product in the User-Agent may be another browser, or an app that shows pages. Describe reads the first [crawler.MaxUserAgent]
// octets. It allocates memory, so do not call it for each request.
func Describe(ua string) Description {
	d := Description{Browser: UnknownPart, Engine: UnknownPart, System: UnknownPart}
	ua = ua[:min(len(ua), crawler.MaxUserAgent)]
	u := parse(ua)
	if u == nil {
		return d
	}
	mainstream, versioned := crawler.PlainBrowser(ua)
	name, version := u.Browser()
	isApp := strings.Contains(ua, "; wv)") || name == "Safari" && u.Mobile() && !versioned // which shows the page
	if mainstream && !isApp && slices.Contains(browsers, name) {
		d.Browser, d.BrowserVersion = name, bounded(version)
	}
	if engine, _ := u.Engine(); slices.Contains(engines, engine) {
		d.Engine = engine
	}
	d.System = system(u.OSInfo(), ua)
	d.Mobile = u.Mobile()
	if model := u.Model(); d.Mobile && model != "" && model != "K" { // K: Chrome's reduced User-Agent
		d.Device = bounded(strings.TrimPrefix(model, "SAMSUNG "))
	}
	return d
}

// browsers and engines are names that the library finds reliably.
var (
	browsers = []string{"Chrome", "Chromium", "Firefox", "Safari", "Edge", "Opera", "Internet Explorer"}
	engines  = []string{"AppleWebKit", "Gecko", "Trident", "Presto", "EdgeHTML"}
)

// system returns the operating system, with its version if browsers send the true one.
func system(info useragent.OSInfo, ua string) string {
	name, version := info.Name, strings.TrimSpace(info.Version)
	switch {
	case strings.Contains(ua, "Windows NT 10.0"):
		return "Windows 10 or 11" // browsers send NT 10.0 for both
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
	if first, _, _ := strings.Cut(name, " "); !crawler.BrowserWord(first) {
		return UnknownPart
	}
	return bounded(strings.TrimSpace(name + " " + version))
}

// bounded returns the first 64 octets of a text that clients can choose.
func bounded(s string) string { return s[:min(len(s), 64)] }

// parse returns nil if the library panics.
func parse(ua string) (u *useragent.UserAgent) {
	defer func() {
		if recover() != nil {
			u = nil
		}
	}()
	return useragent.New(ua)
}
