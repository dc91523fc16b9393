package lint

import (
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/editdistance"
	"github.com/caddy-robots/caddy-robots/internal/preference"
	"github.com/caddy-robots/caddy-robots/robots"
)

// unreadKeys are keys that no crawler reads, although they were once proposed
// or many people write them. The values are messages that say what to do
// instead.
var unreadKeys = map[string]string{
	"nofollow":           "no crawler reads Nofollow in robots.txt; send an X-Robots-Tag header",
	"noarchive":          "no crawler reads Noarchive in robots.txt; send an X-Robots-Tag header",
	"nosnippet":          "no crawler reads Nosnippet in robots.txt; send an X-Robots-Tag header",
	"ai-train":           "write it as \"Content-Signal: ai-train=no\"",
	"disallow-ai":        "no crawler is known to read this key; name the crawlers on User-agent lines",
	"disallowaitraining": "no crawler documents that it reads this key; some read \"Content-Signal: ai-train=no\"",
	"cache-delay":        "only Yandex read this key, until 2018; other crawlers read Crawl-delay",
	"acap-crawler":       "no crawler reads ACAP",
}

// checkUnknown reports a line that the parser does not know. A User-agent line is an
// error: the rules below it belong to another group, or to none.
func (l *linter) checkUnknown(line *robots.Line) {
	f := l.unknownLine(line)
	if f == nil {
		return
	}
	isAgent := f.Replacement != nil && directiveOf(*f.Replacement+": x") == robots.DirectiveUserAgent
	if isAgent && f.Code != "invisible-in-key" {
		f.Code = "misspelt-user-agent-key"
	}
	l.add(f)
}

// unknownLine returns the finding about a line that the parser does not know,
// nil if another check reports the line.
func (l *linter) unknownLine(line *robots.Line) *Finding {
	text := strings.Trim(line.Raw[line.KeyCol:], blanks)
	if plain := strings.TrimSpace(withoutInvisible(text)); plain != text && knownLine(plain) {
		return l.at("invisible-in-key", line, line.KeyCol, text, "remove the invisible character from %+q", shorten(text)).suggest(plain)
	}
	if l.google[line.Number].Kind == robots.GoogleKey {
		return nil // Google reads this line as a rule; checkGoogle reports it
	}
	if colon := withColon(text); !line.HasColon && colon != "" {
		return l.at("missing-colon", line, line.KeyCol, text, "put a colon after the key: crawlers ignore the line without it").suggest(colon)
	}
	if strings.Contains(canonical.Lower(text), "sitemap") && isAbsolute(strings.Trim(line.Key+":"+line.Value, blanks)) {
		return l.at("prose", line, line.KeyCol, text, "crawlers ignore a URL without a key before it").suggest("Sitemap: " + text)
	}
	why, unread := unreadKeys[canonical.Lower(line.Key)]
	near := nearestKey(line.Key)
	switch {
	case line.Key == "" || !line.HasColon, !unread && near == "" && strings.ContainsAny(line.Key, " \t"):
		return l.at("prose", line, line.KeyCol, text, "crawlers ignore this line; a comment starts with #").suggest("# " + text)
	case unread:
		return l.onKey("unknown-key", line, "%s", why)
	case near != "":
		return l.onKey("unknown-key", line, "no crawler is known to read %s; did you mean %s?", line.Key, near).suggest(near)
	}
	return l.onKey("unknown-key", line, "no crawler is known to read %s", line.Key)
}

// withColon returns the line with a colon after its key, if the line is a known
// key that is followed by an equals sign, a path or nothing. Otherwise it
// returns "".
func withColon(text string) string {
	key, value, found := strings.Cut(text, "=")
	if !found || !knownLine(strings.TrimSpace(key)+": x") {
		key, value, _ = strings.Cut(text, " ")
		value = strings.TrimSpace(value)
		if value != "" && value[0] != '/' && value[0] != '*' {
			return ""
		}
	}
	if key = strings.TrimSpace(key); !knownLine(key + ": x") {
		return ""
	}
	return strings.TrimSpace(key + ": " + strings.TrimSpace(value))
}

// shorten cuts a text that a message quotes to at most 40 octets.
func shorten(s string) string { return s[:min(len(s), 40)] }

// knownLine reports whether the parser knows the key of a line.
func knownLine(s string) bool { return directiveOf(s) > robots.DirectiveUnknown }

// directiveOf returns the directive of a line.
func directiveOf(s string) robots.Directive {
	line, _ := robots.Parse([]byte(s)).Line(1)
	return line.Directive
}

// maxKey is the longest key, in octets, that is checked for a misspelling.
const maxKey = 24

// nearestKey returns the known key that a misspelt key probably means, "" if
// there is none.
func nearestKey(key string) string {
	if len(key) > maxKey {
		return ""
	}
	return editdistance.Nearest(key, directiveNames)
}

// directiveNames iterates over the standard spellings of all keys.
var directiveNames iter.Seq[string] = func(yield func(string) bool) {
	for d := robots.DirectiveUserAgent; d.String() != robots.DirectiveUnknown.String(); d++ {
		if !yield(d.String()) {
			return
		}
	}
}

// group parses a file that has only this line in a group, and returns the
// group. The group shows whether the parser accepts the value.
func group(d robots.Directive, value string) *robots.Group {
	return robots.Parse([]byte("User-agent: *\n" + d.String() + ": " + value + "\n")).Star()
}

// malformed holds, for each directive whose values have a form of their own, the
// finding about a value without it. isValid gets the group of the function group.
var malformed = map[robots.Directive]struct {
	code, format string
	isValid      func(*robots.Group) bool
}{
	robots.DirectiveCrawlDelay: {"malformed-crawl-delay", "%q is not a number of seconds",
		func(g *robots.Group) bool { _, ok := g.CrawlDelay(); return ok }},
	robots.DirectiveRequestRate: {"malformed-request-rate", "%q does not have the form requests/time, such as 1/10s",
		func(g *robots.Group) bool { return len(g.RequestRates()) > 0 }},
	robots.DirectiveVisitTime: {"malformed-visit-time", "%q does not have the form hhmm-hhmm, such as 0600-0845",
		func(g *robots.Group) bool { return len(g.VisitTimes()) > 0 }},
	robots.DirectiveContentSignal: {"malformed-content-signal", "%q contains no key=value",
		func(g *robots.Group) bool { return len(g.ContentSignals()) > 0 }},
	robots.DirectiveContentUsage: {"malformed-content-usage", "%q contains no key=value",
		func(g *robots.Group) bool { return len(g.ContentUsage()) > 0 }},
}

// checkField checks the value of a line that is neither a rule nor a User-agent
// line.
func (l *linter) checkField(line *robots.Line, inGroup bool) {
	d, v := line.Directive, line.Value
	if m, known := malformed[d]; known && !m.isValid(group(d, v)) {
		l.add(l.onValue(m.code, line, m.format, v))
	}
	switch d {
	case robots.DirectiveCrawlDelay:
		if c, _ := group(d, v).CrawlDelay(); c.Delay > time.Hour {
			l.add(l.onValue("long-crawl-delay", line, "%s seconds are %v", v, c.Delay))
		}
	case robots.DirectiveRequestRate:
		i := strings.IndexAny(v, " \t")
		if i < 0 || len(group(d, v).RequestRates()) == 0 {
			break
		}
		if window := strings.TrimSpace(v[i:]); len(group(robots.DirectiveVisitTime, window).VisitTimes()) == 0 {
			l.add(l.onValue("malformed-window", line, "%q does not have the form hhmm-hhmm, such as 0600-0845", window))
		}
	case robots.DirectiveContentUsage, robots.DirectiveContentSignal:
		l.checkPreferences(line, d)
	case robots.DirectiveNoindex:
		l.add(l.onKey("noindex-line", line, "no crawler reads Noindex in robots.txt"))
	case robots.DirectiveLicense:
		if !isAbsolute(v) {
			l.add(l.onValue("relative-license", line, "%q is not a full URL", v))
		}
	case robots.DirectiveSitemap:
		l.checkSitemap(line)
	}
	if limit := d == robots.DirectiveCrawlDelay || d == robots.DirectiveRequestRate || d == robots.DirectiveVisitTime; limit && !inGroup {
		l.add(l.onKey("field-outside-group", line, "put %s below a User-agent line", d))
	}
}

// checkPreferences checks the keys and values of a Content-Signal or
// Content-Usage line. Unknown keys are no error, because both vocabularies grow.
func (l *linter) checkPreferences(line *robots.Line, d robots.Directive) {
	var list []robots.Preference
	path := ""
	g, field := group(d, line.Value), d.String()
	for _, s := range g.ContentSignals() {
		list = append(list, s.Preferences...)
	}
	for _, u := range g.ContentUsage() {
		list, path = append(list, u.Preferences...), u.Path
	}
	for _, p := range list {
		known := preference.Lookup(field, p.Key)
		other := preference.Lookup(preference.Other(field), p.Key)
		switch {
		case known != nil && known.State == preference.Obsolete && known.Instead != "":
			f := l.onValue("obsolete-preference", line, "readers of %s ignore %s: the key is now %s", field, p.Key, known.Instead)
			if len(list) == 1 {
				f.suggest(strings.TrimSpace(path + " " + known.Instead + "=" + p.Value))
			}
			l.add(f)
		case known != nil && known.State == preference.Obsolete:
			l.add(l.onValue("obsolete-preference", line, "readers of %s ignore %s, and no key replaces it", field, p.Key))
		case known != nil && !slices.Contains(known.Values, p.Value):
			l.add(l.onValue("unknown-preference", line, "the value of %s is %s, but must be %s", p.Key, p.Value, strings.Join(known.Values, " or ")))
		case known == nil && other != nil:
			l.add(l.onValue("unknown-preference", line, "%s is a key of %s, not of %s", p.Key, other.Field, field))
		}
	}
}

func (l *linter) checkSitemap(line *robots.Line) {
	if line.Value == "" {
		l.add(l.onKey("relative-sitemap", line, "the Sitemap line has no URL"))
		return
	}
	if !isAbsolute(line.Value) {
		f := l.onValue("relative-sitemap", line, "%q is not a full URL", line.Value)
		if u, err := url.Parse(l.location); err == nil && u.Host != "" && strings.HasPrefix(line.Value, "/") {
			f.suggest(u.Scheme + "://" + u.Host + line.Value)
		}
		l.add(f)
	}
}

// isAbsolute reports whether s is an http or https URL with a host.
func isAbsolute(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
