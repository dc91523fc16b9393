package browser

import (
	"regexp"
	"slices"
	"strings"
)

// sends has the User-Agents of the browsers that send Sec-Fetch-Site, -Mode and -Dest with
// every request over HTTPS: Chromium has sent all three since 80 (-Dest came last), Firefox
// since 90, Safari since 16.4 (MDN's compatibility tables of Sec-Fetch-Dest). Each octet says
// which way a match goes on, so that package regexp needs one pass.
var sends = [...]*regexp.Regexp{
	regexp.MustCompile(`^Mozilla/5\.0 \([^)]*\) AppleWebKit/537\.36 \(KHTML, like Gecko\) ` +
		`Chrome/(?:[89]\d|[1-7]\d\d)[\d.]* (?:Mobile )?Safari/537\.36(?: (?:EdgA?|OPR)/[1-9][\d.]*)?$`),
	regexp.MustCompile(`^Mozilla/5\.0 \([^)]*\) Gecko/[\d.]+ Firefox/(?:9\d|[1-8]\d\d)[\d.]*$`),
	regexp.MustCompile(`^Mozilla/5\.0 \((?:Macintosh|iPhone|iPad);[^)]*\) AppleWebKit/605\.1\.15 \(KHTML, like Gecko\) ` +
		`Version/(?:1(?:6\.(?:[4-9]|[1-3]\d)|[7-9])|[2-9]\d)[\d.]* (?:Mobile/15E148 )?Safari/[\d.]+$`),
}

// SendsFetchFields reports whether a User-Agent is that of a browser version that always
// sends Sec-Fetch-* fields over HTTPS.
//
// It accepts only the exact User-Agents of the large browsers. It rejects those of apps
// and WebViews, which add something to them, because it is not known what these clients
// send. On iOS it rejects all browsers but Safari for the same reason.
func SendsFetchFields(userAgent string) bool {
	isExact := func(form *regexp.Regexp) bool { return form.MatchString(userAgent) }
	isOther := strings.Contains(userAgent, "compatible") || strings.Contains(userAgent, "; wv)")
	return !isOther && slices.ContainsFunc(sends[:], isExact) &&
		(strings.Contains(userAgent, "; rv:") || strings.Contains(userAgent, "AppleWebKit"))
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
	in := func(word string) bool { return strings.Contains(rest, word) }
	return ok && slices.ContainsFunc(browserWords[:], in) && !slices.ContainsFunc(otherWords[:], in)
}
