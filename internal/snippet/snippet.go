// Package snippet writes the lines of a Caddyfile that hold crawlers: those of a robots block, and
// those of Caddy itself that refuse a User-Agent.
//
//	snippet.Limit([]string{"/search/*"}, "each "+snippet.Rate(12).String()) // limit /search/* { each 10/1m }
//	snippet.Deny("GPTBot", "/search/*")                                     // policy { deny GPTBot /search/* }
package snippet

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Limit returns a limit for paths, in robots.txt syntax, or for the whole site.
func Limit(paths []string, lines ...string) string {
	return strings.Join(append([]string{"limit"}, paths...), " ") + block(lines...)
}

// Deny returns a policy that denies a purpose or a crawler, with a name as Name returns it,
// some paths or the whole site.
func Deny(name string, paths ...string) string {
	return "policy" + block(strings.Join(append([]string{"deny", name}, paths...), " "))
}

// What can be written so that it means only itself: a User-Agent between quotes, without placeholders
// and without a star at an end, where Caddy takes it for a wildcard; and a pattern that is the same in
// each form of a URL.
var (
	plainAgent   = regexp.MustCompile(`^[!#-)+-\[\]-_a-z|~](?:[ !#-\[\]-_a-z|~]*[!#-)+-\[\]-_a-z|~])?$`)
	plainPattern = regexp.MustCompile(`^[/*][A-Za-z0-9/._~:@,+=&?*-]*[$]?$`)
)

// Refuse returns lines of Caddy for the block of a site, which refuse a User-Agent on the paths of
// patterns in robots.txt syntax. It returns "" where the lines could mean something else: clients
// choose User-Agents and paths.
func Refuse(userAgent string, patterns []string) string {
	var paths []string
	for _, pattern := range patterns {
		if !plainPattern.MatchString(pattern) {
			return ""
		}
		text, isExact := strings.CutSuffix(strings.TrimRight(pattern, "*"), "$")
		path := strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*")
		if isExact {
			path += "$"
		}
		paths = append(paths, path)
	}
	if len(paths) == 0 || !plainAgent.MatchString(userAgent) {
		return ""
	}
	return "@fleet" + block(`header User-Agent "`+userAgent+`"`,
		`vars_regexp {http.request.orig_uri} "^(?:`+strings.Join(paths, "|")+`)"`) + "\nrespond @fleet 403"
}

func block(lines ...string) string { return " {\n\t" + strings.Join(lines, "\n\t") + "\n}" }

// Name returns a crawler's name as a Caddyfile has it.
func Name(name string) string {
	if strings.ContainsAny(name, " \t\"`{}#") {
		return strconv.Quote(name)
	}
	return name
}

// Below returns the pattern of all paths that begin with a folder such as /search/, and nil
// for / and "". It escapes what means something in robots.txt or in a Caddyfile: clients
// choose paths.
func Below(folder string) []string {
	if folder == "" || folder == "/" {
		return nil
	}
	var b strings.Builder
	for i := range len(folder) {
		switch c := folder[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("/._~-", c) >= 0,
			c == '%' && isEscape(folder[i:]):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return []string{b.String() + "*"}
}

// isEscape reports whether a text begins with a percent-encoded octet.
func isEscape(s string) bool {
	if len(s) < 3 {
		return false
	}
	_, err := strconv.ParseUint(s[1:3], 16, 8)
	return err == nil
}

// Rate returns a rate that is at most the given number of requests a minute, and at least
// one in an hour: 1, 2, 3, 5, 10, 20, 30, 50 and so on, in a minute or an hour.
func Rate(perMinute float64) robots.RequestRate {
	rate := robots.RequestRate{Per: time.Minute}
	if perMinute < 1 {
		rate.Per, perMinute = time.Hour, perMinute*60
	}
	unit := math.Pow(10, math.Floor(math.Log10(max(perMinute, 1))))
	rate.Requests = int(unit)
	for _, n := range []float64{2, 3, 5} {
		if n*unit <= perMinute {
			rate.Requests = int(n * unit)
		}
	}
	return rate
}
