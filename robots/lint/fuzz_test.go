package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

// seeds are the files from which the fuzz targets start.
var seeds = []string{
	"User-agent: *\nDisallow: /a\nAllow: /a/b\n",
	" USERAGENT *\n\n Dissallow /a b # c\r\nDisallow *\nSitemap: x\nSitemap: x",
	"\xef\xbb\xbf User-agent: a/1 #x\nDisallow: /%\nDisallow: /é é\n\nAllow: /*\nAllow: /a",
	"\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /a\n",
	"User-agent: a\nUser-agent: b\nDisallow: /x\nDisallow: /x/y\nAllow: /x/y/z\n\nUser-agent: b\nDisallow: /x/y/z\nCrawl-delay: 2\nCrawl-delay: 3\n",
	"User-agent: *\nDisallow: /a?x=/\nDisallow: /a*x=/\nAllow: /b?x=%2F\nDisallow: /b*x=/\n",
	"User-agent: GPTBot\nAllow: /\n\nUser-agent: *\nDisallow: /\nAllow: /\n",
	"User-agent: *\rDisallow: /a\r\nDISALLOW: /b\nCrawl-delay: 1#c\n#\n",
	"User-agent: Sogou web spider\nDisallow: /a\nDisallow: /a/b\nUser-agent: Sogou inst spider\nAllow: /a/b$\nDisallow: /*.pdf\n",
	"User-agent: *\nDisallow: /#/x\nDisallow: .pdf$\nDisallow: ^/x\n# robots-lint: ignore missing-slash, x\nDisallow: x\n",
	"\xefUser-Agent:a#0\nDisAllow:/0",
	"UserAgent 0\nDisAlow /x\nDisAlow /x00\nAllow //",
	"User-agent: *\nDisallow: /a*\nAllow: /a\nAllow: /b*\nDisallow: /b*\nDisallow: /c/**\n",
	"User-agent: *\nDisallow: /tmp/, /a\nDisallow: /b,/c;,\nDisallow: /,\nDisallow: /d/ ,\n",
	"Usr-agent: *\nDisallow: /a\n\nUser-agents: x\nUser-agent=y\nCrawl-delay: 1\nDisallow: /b\n\nUser-agent: Gptbott\nUsr-agent: z\n\nAllow: /\n",
	"User-agent: *\nDisallow: /caf\xe9/\nAllow: /\x80 \xe9\xe8%\nDisallow: /\xe9\xe8\xe7\nAllow: /caf\xe9/caf\xc3\xa9\xff\x81\n",
	"User-agent: *\nAllow: /a//b\nAllow: /a/*/b\nDisallow: /a/\nAllow: /.x\nDisallow: /*x\n",
}

func addSeeds(f *testing.F) {
	for _, s := range seeds {
		for d := range uint8(3) {
			f.Add([]byte(s), d)
		}
	}
}

// FuzzLint checks that the text of a finding is at its line and column, and
// that no suggested path covers the whole site unless the original path does.
func FuzzLint(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte, dialect uint8) {
		checkFindings(t, robots.Parse(data, robots.WithDialect(robots.Dialect(dialect%3))))
	})
}

func checkFindings(t *testing.T, file *robots.File) {
	l := linter{file: file}
	lines := slices.Collect(file.Lines())
	for _, x := range Lint(file, WithCrawlers(crawlers)) {
		if _, ok := CheckFor(x.Code); !ok {
			t.Fatalf("no rule has the code %q", x.Code)
		}
		if x.Line < 1 || x.Line > len(lines)+1 || x.Related > len(lines) {
			t.Fatalf("%+v: there is no such line", x)
		}
		if x.Line > len(lines) {
			continue
		}
		line := &lines[x.Line-1]
		if x.Column-1 <= len(line.Raw) && !strings.HasPrefix(line.Raw[x.Column-1:], x.Text) {
			t.Fatalf("%+v: line %q does not have the text at that column", x, line.Raw)
		}
		if isRule(line) && x.Text == line.Value && x.Replacement != nil && l.coversSite(*x.Replacement) && !l.coversSite(line.Value) {
			t.Fatalf("%+v: the replacement for %q covers the whole site", x, line.Raw)
		}
	}
}

// FuzzAdvice removes the lines that the linter reports as without effect, one
// by one and all together, and checks that no verdict changes.
func FuzzAdvice(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte, dialect uint8) {
		checkAdvice(t, robots.Parse(data, robots.WithDialect(robots.Dialect(dialect%3))))
	})
}

func checkAdvice(t *testing.T, file *robots.File) {
	text := string(file.Bytes())
	lines := slices.Collect(file.Lines())
	agents, paths := samples(file)
	rfc := rfcReaders(file.Dialect())
	without := func(remove ...int) []byte {
		var b []byte
		for _, l := range lines {
			if !slices.Contains(remove, l.Number) {
				b = append(b, l.Raw+l.Ending...)
			} else if l.Offset == 0 {
				b = append(b, l.Raw[:canonical.MarkLen(l.Raw)]...)
			}
		}
		return b
	}
	var all []int
	for _, x := range Lint(file, WithSelect("never-decides", "without-effect")) {
		checkSameVerdicts(t, rfc, []byte(text), without(x.Line), agents, paths)
		all = append(all, x.Line)
	}
	if len(all) > 1 {
		checkSameVerdicts(t, rfc, []byte(text), without(all...), agents, paths)
	}
}

// samples returns crawlers and paths to compare verdicts for. The paths are
// similar to those of the rules in the file.
func samples(f *robots.File) (agents, paths []string) {
	agents = append([]string{"nobody", "Googlebot"}, f.Tokens()...)
	for _, token := range f.Tokens() {
		word, _, _ := strings.Cut(token, " ")
		agents = append(agents, word)
	}
	paths = []string{"/", "/x", "/robots.txt"}
	for line := range f.Lines() {
		if !isRule(&line) || line.Value == "" {
			continue
		}
		v := line.Value
		if v[0] != '/' {
			v = "/" + v
		}
		for _, fill := range []string{"", "x", "/", "*", "?x=%2F"} {
			p := strings.TrimSuffix(strings.ReplaceAll(v, "*", fill), "$")
			paths = append(paths, p, p+"x", p+"/"+fill, strings.ReplaceAll(p, "/", "%2F"), strings.ReplaceAll(p, "%2F", "/"), escapePath(p))
		}
		if len(paths) > 600 {
			break
		}
	}
	return agents[:min(len(agents), 8)], slices.Compact(paths)
}
