package lint

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

// checkRuleLine checks the value of an Allow or Disallow line.
func (l *linter) checkRuleLine(line *robots.Line) {
	value := line.Value
	if value == "" {
		return
	}
	paths, separated := splitPaths(value)
	switch {
	case len(paths) > 1 && !l.lists():
		l.add(l.suggestPaths(l.onValue("several-paths", line, "write one %s line for each of the %d paths", line.Directive, len(paths)),
			"\n"+line.Directive.String()+": ", paths...))
		return
	case separated:
		name := "comma"
		if strings.HasSuffix(value, ";") {
			name = "semicolon"
		}
		f := l.onValue("trailing-separator", line, "the %s is a part of the path: the rule covers only URLs that have it", name)
		l.add(l.suggestPaths(f, " ", paths...))
		return
	case l.lists():
		paths = strings.Fields(value)
	default:
		paths = []string{value}
	}
	for _, path := range paths {
		l.checkPattern(line, path)
	}
}

// suggestPaths suggests to write paths, with sep between them, unless one of
// them covers the whole site.
func (l *linter) suggestPaths(f *Finding, sep string, paths ...string) *Finding {
	if slices.ContainsFunc(paths, l.coversSite) {
		return f
	}
	return f.suggest(strings.Join(paths, sep))
}

func (l *linter) checkPattern(line *robots.Line, p string) {
	if p[0] != '/' && (p[0] != '*' || !l.wildcards()) {
		l.checkRootless(line, p)
		return
	}
	if p == "*" {
		l.add(l.onValue("disallow-star", line, "\"%s: /\" means the same to every crawler", line.Directive).suggest("/"))
		return
	}
	if l.wildcards() {
		l.checkSigns(line, p)
	}
	l.checkOctets(line, p)
}

// checkRootless checks a pattern that starts with neither a slash nor a `*`.
func (l *linter) checkRootless(line *robots.Line, p string) {
	p = withoutInvisible(p) // what is in front of the slash is not seen
	u, err := url.Parse(p)
	switch {
	case err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https"):
		l.add(l.onValue("url-as-path", line, "write only the path of the URL").suggest(u.RequestURI()))
	case host().MatchString(p):
		_, path, _ := strings.Cut(p, "/")
		f := l.onValue("url-as-path", line, "write only the path: the rule applies to the host that the file is on")
		if path != "" {
			f.suggest("/" + path)
		}
		l.add(f)
	case l.crawlerName(p):
		l.add(l.onValue("inverted-syntax", line,
			"%s is a crawler: to disallow everything to it, write \"User-agent: %s\" and below it \"Disallow: /\"", p, p))
	default:
		l.add(l.suggestPaths(l.onValue("missing-slash", line, "the path does not start with a slash"), "", l.rooted(p)))
	}
}

// host matches a pattern that starts with the name of a host.
var host = lazy(`^(?:(?i:www)\.[\w.-]*|[\w.-]+\.(?i:com|net|org|edu|gov|info))(?:[/*$:]|$)`)

// rooted returns the pattern that a value without a leading slash probably
// means. For a file extension or a query, the pattern matches in every folder.
func (l *linter) rooted(p string) string {
	p = strings.TrimLeft(p, "\"'`“^")
	p = strings.TrimRight(p, "\"'`”")
	p = strings.TrimPrefix(p, "./")
	if l.wildcards() && (strings.HasPrefix(p, ".*") || strings.HasPrefix(p, `\`)) {
		p = strings.ReplaceAll(plainSigns.Replace(p), `\`, "/") // as in paths of Windows
	}
	switch {
	case strings.HasPrefix(p, "/"):
		return p
	case !l.wildcards():
		return "/" + p
	case strings.ContainsAny(p[:min(1, len(p))], "?&=") || isExtension(p) || strings.HasSuffix(p, "$") && !strings.ContainsAny(p, "/."):
		return "/*" + p
	}
	return "/" + p
}

// coversSite reports whether a pattern matches every path. The linter never
// suggests such a pattern.
func (l *linter) coversSite(s string) bool {
	p, ok := l.patternSet(s)
	root, _ := l.patternSet("/")
	return ok && p.contains(root)
}

// dotFiles are names that start with a dot and are as short as a file
// extension.
var dotFiles = map[string]bool{".git": true, ".svn": true, ".hg": true, ".env": true, ".ssh": true, ".aws": true, ".idea": true,
	".cache": true}

// extension matches a pattern that is a file extension, such as .pdf, .php$ or
// .php?id=.
var extension = lazy(`^(\.[\w-]{1,5})(?:[?*].*)?\$?$`)

func isExtension(p string) bool {
	name := extension().FindStringSubmatch(p)
	return name != nil && !dotFiles[canonical.Lower(name[1])]
}

// crawlerName reports whether a value is probably the product token of a
// crawler: a known token, or one with a usual ending such as bot.
func (l *linter) crawlerName(p string) bool {
	s := strings.ToLower(p)
	if !isWord(s) || s == "all" || s == "none" || strings.Contains(strings.TrimSuffix(s, ".org_bot"), ".") {
		return false
	}
	if l.known(s) && (s != p || strings.ContainsAny(s, "-_") || len(s) > 6) { // a short plain word such as java is more likely a folder
		return true
	}
	return slices.ContainsFunc(crawlerEnds, func(end string) bool { return strings.HasSuffix(s, end) && s != end })
}

// crawlerEnds are the usual ends of the names of crawlers.
var crawlerEnds = []string{"bot", "spider", "crawler"}

// regularSigns are texts that usually occur only in regular expressions.
var regularSigns = []string{"/.*", "^", "[0-9", "[a-z", `\d`, `\w`, `\.`, `\/`, "(.", ".+", "(?"}

// plainSigns converts a simple regular expression to a pattern.
var plainSigns = strings.NewReplacer("(.*)", "*", ".*", "*", ".+", "*", `\.`, ".", `\/`, "/", `\?`, "?", "^", "")

// checkSigns checks a pattern for parts of regular expressions, and for a $ or
// * in the wrong place.
func (l *linter) checkSigns(line *robots.Line, p string) {
	for _, sign := range regularSigns {
		if !strings.Contains(p, sign) {
			continue
		}
		if sign == "/.*" {
			i := strings.Index(p, sign)
			f := l.onValue("regular-expression", line,
				"crawlers read %q as a slash, a dot and then any text, so the rule covers paths such as %sgit/", sign, p[:i+2])
			l.add(l.suggestPaths(f, "", p[:i+1]+plainSigns.Replace(p[i+1:])))
			return
		}
		f := l.onValue("regular-expression", line, "%q has no special meaning here and matches only itself", sign)
		if plain := plainSigns.Replace(p); !strings.ContainsAny(plain, `^[]\()+`) {
			l.suggestPaths(f, "", plain)
		}
		l.add(f)
		return
	}
	if whole := strings.TrimRight(p, "/*?"); whole != p && strings.HasSuffix(whole, "$") {
		l.add(l.suggestPaths(l.onValue("dollar-within", line, "nothing may follow the $ that marks the end of the path"), "", whole))
	}
}

// checkOctets reports octets of a pattern that URLs encode.
func (l *linter) checkOctets(line *robots.Line, p string) {
	escaped := escapePath(p)
	var f *Finding
	switch {
	case withoutInvisible(p) != p:
		l.add(l.onValue("invisible-character", line, "the rule covers only URLs that contain %s", escaped).suggest(p))
		return
	case invalidEscape(p):
		f = l.onValue("invalid-escape", line, "write %%25 for a percent sign")
	case strings.ContainsAny(p, " \t"):
		f = l.onValue("blank-in-path", line, "URLs have %%20 in place of a blank")
	case escaped != p && utf8.ValidString(p): // otherwise checkShape reports it
		f = l.onValue("unencoded-path", line, "URLs have %s here", escaped)
	default:
		return
	}
	l.add(f.suggest(escaped))
}

// invalidEscape reports whether p has a percent sign that does not start an
// escape.
func invalidEscape(p string) bool {
	for i := range len(p) {
		if _, ok := canonical.Unescape(p, i); !ok && p[i] == '%' {
			return true
		}
	}
	return false
}

// escapePath percent-encodes the octets of a pattern that a URL can't contain,
// and changes nothing else.
func escapePath(p string) string {
	b := make([]byte, 0, len(p)+8)
	for i := range len(p) {
		c := p[i]
		if _, ok := canonical.Unescape(p, i); c <= ' ' || c >= 0x7f || c == '%' && !ok {
			b = canonical.AppendEscape(b, c)
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// separators are the characters with which people separate paths, or end them.
const separators = ",;"

// splitPaths returns the paths in the value of a rule, without the separators
// between them and at the end. separated reports whether there is such a
// separator. If the value is not a list of paths, splitPaths returns nil.
func splitPaths(value string) (paths []string, separated bool) {
	var list []string
	for word := range strings.FieldsSeq(value) {
		if !strings.ContainsAny(word, "*?") {
			word = separatedPaths.Replace(word)
		}
		list = append(list, strings.Fields(word)...)
	}
	for _, item := range list {
		path := strings.TrimRight(item, separators)
		separated = separated || path != item
		switch {
		case path == "":
		case path[0] != '/' && path[0] != '*':
			return nil, false
		default:
			paths = append(paths, path)
		}
	}
	if len(paths) == 1 && len(list) == 1 && separated && !isSeparator(paths[0], list[0][len(paths[0])]) {
		return list, false
	}
	return paths, separated
}

// separatedPaths puts a blank between a separator and a path behind it, as in
// /a,/b.
var separatedPaths = strings.NewReplacer(",/", ", /", ";/", "; /")

// isSeparator reports whether a comma or semicolon after the only path of a rule
// is probably a mistake. After a `*` or in a query it is not, and a semicolon
// may begin the parameters of a path, as in /products;jsessionid=1. Some
// publishing systems use commas between numbers, as in /story/0,1234,00.html.
func isSeparator(path string, sep byte) bool {
	last := path[len(path)-1]
	switch {
	case last == '*' || strings.Contains(path, "?"):
		return false
	case last == '/' || last == '$':
		return true
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	return sep == ',' && strings.Trim(name, "0123456789,") != ""
}
