package robots

import (
	"net/url"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/robots/internal/canonical"
)

// unreadKeys are keys that once were proposed, or that people expect, and that
// no crawler reads.
var unreadKeys = map[string]string{
	"nofollow":           "no crawler reads it in robots.txt; an X-Robots-Tag header says it",
	"noarchive":          "no crawler reads it in robots.txt; an X-Robots-Tag header says it",
	"nosnippet":          "no crawler reads it in robots.txt; an X-Robots-Tag header says it",
	"ai-train":           "write it as Content-Signal: ai-train=no",
	"disallow-ai":        "name the crawlers on User-agent lines",
	"disallowaitraining": "no crawler documents that it reads it; Content-Signal: ai-train=no is read by some",
	"cache-delay":        "Yandex read it until 2018; Crawl-delay is read by others",
	"acap-crawler":       "ACAP is read by no crawler",
}

func (l *linter) checkUnknown(line *Line) {
	text := line.trimmed()
	if line.Key == "" || !line.HasColon {
		l.add(l.at("prose", line, line.KeyCol, text, "no key and no colon").suggest("# " + text))
		return
	}
	if why, ok := unreadKeys[strings.ToLower(line.Key)]; ok {
		l.add(l.onKey("unknown-key", line, "%s: %s", line.Key, why))
		return
	}
	if strings.ContainsAny(line.Key, " \t") {
		l.add(l.at("prose", line, line.KeyCol, text, "no key that crawlers know").suggest("# " + text))
		return
	}
	f := l.onKey("unknown-key", line, "no crawler is known to read %s", line.Key)
	if d := nearestDirective(line.Key); d != DirectiveUnknown {
		f = l.onKey("unknown-key", line, "no crawler is known to read %s; %s is near", line.Key, d).suggest(d.String())
	}
	l.add(f)
}

// nearestDirective returns the directive whose name differs from key in at
// most two octets.
func nearestDirective(key string) Directive {
	best, distance := DirectiveUnknown, 3
	for d := DirectiveUserAgent; int(d) < len(directiveNames); d++ {
		if len(key) > 24 {
			break
		}
		if n := editDistance(canonical.Lower(key), canonical.Lower(d.String())); n < distance && n < len(key)/2 {
			best, distance = d, n
		}
	}
	return best
}

// editDistance is the number of octets to insert, remove or replace to make a
// of b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// checkField looks at the value of a line that is no rule.
func (l *linter) checkField(line *Line, inGroup bool, sitemaps map[string]int) {
	v := line.Value
	switch line.Directive {
	case DirectiveCrawlDelay:
		d, ok := parseCrawlDelay(v)
		switch {
		case !ok:
			l.add(l.onValue("malformed-crawl-delay", line, "%q is no number of seconds", v))
		case d > time.Hour:
			l.add(l.onValue("long-crawl-delay", line, "%s seconds are %v", v, d))
		}
		l.outside(line, inGroup)
	case DirectiveRequestRate:
		if _, ok := parseRequestRate(v); !ok {
			l.add(l.onValue("malformed-request-rate", line, "%q is not requests/time", v))
		} else if _, window, found := strings.Cut(v, " "); found {
			if _, ok := parseWindow(strings.TrimSpace(window)); !ok {
				l.add(l.onValue("malformed-window", line, "%q is not hhmm-hhmm", strings.TrimSpace(window)))
			}
		}
		l.outside(line, inGroup)
	case DirectiveVisitTime:
		if _, ok := parseWindow(v); !ok {
			l.add(l.onValue("malformed-visit-time", line, "%q is not hhmm-hhmm", v))
		}
		l.outside(line, inGroup)
	case DirectiveNoindex:
		l.add(l.onKey("noindex-line", line, "no crawler reads Noindex"))
		l.outside(line, inGroup)
	case DirectiveContentSignal:
		if _, ok := parseContentSignal(line); !ok {
			l.add(l.onValue("malformed-content-signal", line, "%q has no key=value", v))
		}
	case DirectiveContentUsage:
		if _, ok := parseContentUsage(line); !ok {
			l.add(l.onValue("malformed-content-usage", line, "%q has no key=value", v))
		}
	case DirectiveLicense:
		if !absolute(v) {
			l.add(l.onValue("relative-license", line, "%q is no absolute URL", v))
		}
	case DirectiveSitemap:
		l.checkSitemap(line, sitemaps)
	}
}

func (l *linter) outside(line *Line, inGroup bool) {
	if !inGroup {
		l.add(l.onKey("field-outside-group", line, "no User-agent line stands above it"))
	}
}

func (l *linter) checkSitemap(line *Line, sitemaps map[string]int) {
	if !absolute(line.Value) {
		f := l.onValue("relative-sitemap", line, "%q is no absolute URL", line.Value)
		if u, err := url.Parse(l.location); err == nil && u.Host != "" && strings.HasPrefix(line.Value, "/") {
			f.suggest(u.Scheme + "://" + u.Host + line.Value)
		}
		l.add(f)
	}
	if first, ok := sitemaps[line.Value]; ok {
		f := l.onValue("duplicate-sitemap", line, "line %d names it already", first)
		f.Related = first
		l.add(f.suggest("").safely(line, 0, len(line.Raw)+len(line.Ending), ""))
		return
	}
	sitemaps[line.Value] = line.Number
}

func absolute(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
