package page

import (
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/visible"
)

// strange returns text that a stranger may have written as safe HTML: it escapes the
// text, cuts it after max runes, and shows invisible characters as marked escapes.
func strange(max int, s string) template.HTML {
	return template.HTML(readable(max, s, `<span class="more" title="cut here">…</span>`, func(text string, escaped bool) string {
		if escaped {
			return `<span class="escape">` + text + `</span>`
		}
		return template.HTMLEscapeString(text)
	}))
}

// plain is strange without markup, for an attribute. The template escapes it.
func plain(max int, s string) string {
	return readable(max, s, "…", func(text string, _ bool) string { return text })
}

// readable returns the first max runes of a text, each by the function rune, with more
// after them if there are others.
func readable(max int, s, more string, rune func(text string, escaped bool) string) string {
	var b strings.Builder
	for n := 0; s != ""; n++ {
		if n == max {
			return b.String() + more
		}
		text, size, escaped := visible.Rune(s)
		b.WriteString(rune(text, escaped))
		s = s[size:]
	}
	return b.String()
}

// share returns a part of a whole as a percentage.
func share(part, whole int64) string {
	switch {
	case whole <= 0:
		return "–"
	case part <= 0:
		return "0 %"
	}
	switch p := 100 * float64(part) / float64(whole); {
	case p < 0.1:
		return "< 0.1 %"
	case p < 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	case p > 99 && p < 100:
		return "> 99 %"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	}
}

// Shares returns the parts of the costs that robots have.
func Shares(c audit.Costs) string {
	text := share(c.Robots.Requests, c.All.Requests) + " of the requests, " + share(c.Robots.Octets, c.All.Octets) + " of the octets"
	if c.Timed > 0 {
		text += ", " + share(int64(c.Robots.Seconds*1000), int64(c.All.Seconds*1000)) + " of the time"
	}
	return text
}

// moment returns a date and time in UTC. The page names the time zone at its top.
func moment(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04") }
