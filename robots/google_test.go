package robots

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// googleParser is a simple implementation of google/robotstxt, written from its
// source, for comparison with package robots. It reads the file for each query,
// and compares each rule with the path.
type googleParser struct {
	path                    string
	agents                  []string
	global, specific        [2]int // priorities of Disallow and Allow, -1: none matched
	inGlobal, inSpecific    bool
	everSpecific, separator bool
}

// googleAllows returns what RobotsMatcher::AllowedByRobots does for a path.
func googleAllows(text string, agents []string, path string) bool {
	p := googleParser{path: path, agents: agents, global: [2]int{-1, -1}, specific: [2]int{-1, -1}}
	for _, line := range googleLines(text) {
		p.line(line)
	}
	if p.specific[0] > 0 || p.specific[1] > 0 {
		return p.specific[0] <= p.specific[1]
	}
	return p.everSpecific || p.global[0] <= p.global[1] || p.global[0] <= 0
}

func googleLines(text string) (lines []string) {
	for _, c := range []byte(canonical.ByteOrderMark) {
		if text == "" || text[0] != c {
			break
		}
		text = text[1:]
	}
	var line []byte
	for _, c := range []byte(text + "\n") {
		if c == '\n' || c == '\r' {
			lines = append(lines, string(line))
			line = line[:0]
		} else if len(line) < 16663 {
			line = append(line, c)
		}
	}
	return lines
}

const cBlanks = " \t\n\v\f\r"

func (p *googleParser) line(line string) {
	line, _, _ = strings.Cut(line, "\x00")
	line, _, _ = strings.Cut(line, "#")
	line = strings.Trim(line, cBlanks)
	key, value, ok := strings.Cut(line, ":")
	if !ok {
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			return
		}
		key, value = line[:i], strings.TrimLeft(line[i:], " \t")
		if strings.ContainsAny(value, " \t") {
			return
		}
	}
	key, value = strings.ToLower(strings.Trim(key, cBlanks)), strings.Trim(value, cBlanks)
	begins := func(list ...string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(key, s) })
	}
	switch {
	case begins("user-agent", "useragent", "user agent"):
		p.userAgent(value)
	case begins("allow"):
		p.allow(googleEscape(value))
	case begins("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"):
		p.rule(0, googleEscape(value))
	}
}

func (p *googleParser) userAgent(value string) {
	if p.separator {
		p.inSpecific, p.inGlobal, p.separator = false, false, false
	}
	if value != "" && value[0] == '*' && (len(value) == 1 || strings.IndexByte(cBlanks, value[1]) >= 0) {
		p.inGlobal = true
		return
	}
	end := 0
	for end < len(value) && strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_", value[end]) >= 0 {
		end++
	}
	for _, a := range p.agents {
		if strings.EqualFold(value[:end], a) {
			p.everSpecific, p.inSpecific = true, true
		}
	}
}

// rule compares a pattern with the path, and reports whether it matched.
func (p *googleParser) rule(allow int, value string) bool {
	if !p.inSpecific && !p.inGlobal {
		return true
	}
	p.separator = true
	if !googleMatches(p.path, value) {
		return false
	}
	best := &p.global
	if p.inSpecific {
		best = &p.specific
	}
	best[allow] = max(best[allow], len(value))
	return true
}

func (p *googleParser) allow(value string) {
	if p.rule(1, value) {
		return
	}
	if slash := strings.LastIndexByte(value, '/'); slash >= 0 && strings.HasPrefix(value[slash:], "/index.htm") {
		p.rule(1, value[:slash+1]+"$")
	}
}

func googleMatches(path, pattern string) bool {
	positions := []int{0}
	for i := range len(pattern) {
		switch c := pattern[i]; {
		case c == '$' && i+1 == len(pattern):
			return positions[len(positions)-1] == len(path)
		case c == '*':
			first := positions[0]
			positions = positions[:0]
			for at := first; at <= len(path); at++ {
				positions = append(positions, at)
			}
		default:
			var next []int
			for _, at := range positions {
				if at < len(path) && path[at] == c {
					next = append(next, at+1)
				}
			}
			if positions = next; len(next) == 0 {
				return false
			}
		}
	}
	return true
}

func googleEscape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b.WriteString(strings.ToUpper(s[i : i+3]))
			i += 2
		case s[i] >= 0x80:
			b.WriteString("%" + string("0123456789ABCDEF"[s[i]>>4]) + string("0123456789ABCDEF"[s[i]&15]))
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func checkGoogleReading(t *testing.T, text []byte, path string) {
	t.Helper()
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	path, _, _ = strings.Cut(path, "#")
	path = googleEscape(path) // as google/robotstxt expects it
	f := Parse(text)
	if f.Truncated() {
		return
	}
	google := Parse(text, WithDialect(Google))
	reading := f.GoogleReading()
	escaped := strings.Contains(path, "%") || !isPlainASCII(path)
	for _, tokens := range [][]string{{"Googlebot"}, {"Googlebot-Image", "Googlebot"}, {"AdsBot-Google"}} {
		want := googleAllows(string(text), tokens[:1], path)
		for i := 1; i < len(tokens) && google.Named(tokens[i-1]) == nil; i++ {
			want = googleAllows(string(text), tokens[i:i+1], path)
		}
		if base, _, _ := strings.Cut(path, "?"); base == "/robots.txt" {
			want = true // google/robotstxt leaves this to its caller
		}
		if v := google.Group(tokens...).Match(path); v.Allowed != want {
			t.Fatalf("%q for %q: allowed %v by %v, google/robotstxt says %v\n%q", path, tokens, v.Allowed, v.Rule(), want, text)
		}
		if reading == nil && !escaped {
			if v := f.Group(tokens...).Match(path); v.Allowed != want {
				t.Fatalf("%q for %q: allowed %v by %v, google/robotstxt says %v, and there is no other reading\n%q", path, tokens, v.Allowed, v.Rule(), want, text)
			}
		}
	}
}

func isPlainASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

var googleTexts = []string{
	"User-agent: Googlebot\nDisallow: /\nAllow: /a/index.html\nAllow: /b/index.htm?x\nAllow: /*/index.html$\n",
	"User-agent: *\nDisallow all: /\nAllowed: /a\nAllow /b:/c\nDisallow: /d\n",
	"User-agents: Googlebot\nDisallow: /a\nUser-agent: Googlebot2\nDisallow: /b\nUser-agent: *\u00a0\nDisallow: /c\n",
	"User-agent: * x\nDisallow: /a b\nDisallow: /%7ea\nAllow: /é\nDisallow: /%c3%A9$\nDisallow: /a\x00b\n",
	"User-agent: bingbot\nDisallow all: /\nUser-agent: googlebot-image\nDisallow: /a*b$\nSitemap: x\nUser-agent: x\n",
	"User-agent: Googlebot Bingbot\nDisallow: /a\nUser-agent: Googlebot\nDisallow: /b\nCrawl-delay: 1\nUser-agent: *\nAllow: /\n",
	"\xef\xbb\xbfuser agent googlebot\nDisallow:\n\nUser-agent: *\nDisallow: /*$\nDisallow: *a\n",
}

func FuzzGoogleReading(f *testing.F) {
	for _, text := range append(googleTexts, seeds...) {
		for _, path := range []string{"/", "/a/", "/b/index.htm", "/c", "/a b", "/~a", "/%7Ea", "/%C3%A9", "/ab?x"} {
			f.Add([]byte(text), path)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		if len(text) < 2000 && len(path) < 200 {
			checkGoogleReading(t, text, path)
		}
	})
}

// GoogleDifferences returns each line that Google's parser reads differently
// once, with both readings.
func TestGoogleDifferences(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []GoogleDifference
	}{
		{"none", "User-agent: Googlebot\nDisallow: /a*b$\nAllow: /index\n\nUser-agent: MJ12bot\nDisallow: /a b\n", nil},
		{"only the start of a key is compared", "User-agent: *\nDisallow all: /\n", []GoogleDifference{{2, "", "Disallow: /", GoogleKey}}},
		{"lines before the first group are left out", "Disallow all: /\nUser-agent: *\n", nil},
		{"several User-agents", "User-agents: Googlebot\nDisallow: /a\n", []GoogleDifference{{1, "", "User-agent: Googlebot", GoogleKey}}},
		{"a colon after a blank", "User-agent: *\nDisallow /a:/b\n", []GoogleDifference{{2, "", "Disallow: /b", GoogleKey}}},
		{"an index page", "User-agent: *\nAllow: /a/index.html\nDisallow: /b/index.html\n", []GoogleDifference{{2, "Allow: /a/index.html", "Allow: /a/index.html", GoogleIndexPage}}},
		{"a no-break space", "User-agent: *\u00a0\nDisallow: /\n", []GoogleDifference{{1, "User-agent: *", "User-agent: ", GoogleAgent}}},
		{"a version without a slash", "User-agent: Googlebot2\nDisallow: /\n", []GoogleDifference{{1, "User-agent: Googlebot2", "User-agent: Googlebot", GoogleAgent}}},
		{"an escape", "User-agent: *\nDisallow: /%7Ea\nDisallow: /%c3%a9\n", []GoogleDifference{{2, "Disallow: /%7Ea", "Disallow: /%7Ea", GooglePath}}},
		{"a blank", "User-agent: *\nDisallow: /a b\n", []GoogleDifference{{2, "Disallow: /a b", "Disallow: /a b", GooglePath}}},
		{"a NUL", "User-agent: *\nDisallow: /a\x00b\n", []GoogleDifference{{2, "Disallow: /a\x00b", "Disallow: /a", GoogleEnd}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := Parse([]byte(tt.text))
			got := slices.Collect(f.GoogleDifferences())
			if !slices.Equal(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if reading := f.GoogleReading(); (reading != nil) != (len(tt.want) > 0) {
				t.Errorf("GoogleReading returns a reading: %v", reading != nil)
			}
		})
	}
	if Parse([]byte("User-agent: *\nDisallow: /a\n"), WithDialect(Koster1994)).GoogleReading() == nil {
		t.Error("GoogleReading returns nil for the dialect of 1994")
	}
}

// A URL has the same verdict with escapes in upper case, in lower case, and with UTF-8
// that is not escaped.
func TestGoogleReadingEscapes(t *testing.T) {
	f := Parse([]byte("User-agent: *\nDisallow: /é/%24/\nDisallow: /p%3aq/\nDisallow: /r?s=%24\n"))
	ours, google := f.Group("Googlebot"), f.GoogleReading().Group("Googlebot")
	var v Views
	for _, path := range []string{
		"/%C3%A9/%24/", "/%c3%a9/%24/", "/é/%24/", "/%C3%a9/%24/x", "/./%c3%a9/%24/", "//é/%24/",
		"/p%3aq/", "/p%3Aq/", "/%70%3aq/", "/x/../p%3Aq/", "/r?s=%24", "/%72?s=%24", "//r?s=%24&é",
	} {
		v.Reset(path, ViewOptions{})
		if ours.MatchViews(&v).Allowed || google.MatchViews(&v).Allowed || google.Match("/%c3%a9/%24/").Allowed {
			t.Errorf("%s is allowed", path)
		}
	}
	for _, path := range []string{"/%C3%A9/$/", "/p:q/", "/r?s=$"} { // google/robotstxt does not decode escapes
		if v.Reset(path, ViewOptions{}); ours.MatchViews(&v).Allowed || !google.MatchViews(&v).Allowed {
			t.Errorf("%s is disallowed", path)
		}
	}
}
