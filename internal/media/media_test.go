package media

import (
	"strings"
	"testing"
)

func TestKinds(t *testing.T) {
	for want, list := range map[Kind]string{
		Unknown:  "",
		Page:     "text/html; charset=utf-8|application/xhtml+xml|TEXT/HTML",
		Embedded: "text/css|application/javascript|text/JavaScript;x|image/svg+xml|font/woff2|application/font-woff",
		Other:    "application/json|image/x-icon|text/plain|application/pdf|application/octet-stream|x",
	} {
		for media := range strings.SplitSeq(list, "|") {
			if got := Of(media); got != want {
				t.Errorf("%q is %d, want %d", media, got, want)
			}
		}
	}
	for want, list := range map[Kind]string{
		Page: "/|/a|/a.go|/a.b/c?d.css|/index.php?x=/a.png", Embedded: "/a.CSS|/x/a.woff2?v=1", Other: "/favicon.ico|/favicon-32.png|/data.json?x",
	} {
		for target := range strings.SplitSeq(list, "|") {
			if got := OfTarget(target); got != want {
				t.Errorf("%q is %d, want %d", target, got, want)
			}
		}
	}
}
