package headers

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Imported is a rule that stands for a line of another server's configuration.
type Imported struct {
	Line int
	Rule Rule
}

// Problem is what Import could not turn into a rule, and why.
type Problem struct {
	Line int
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// maxImport bounds the octets of a configuration that is imported.
const maxImport = 4 << 20

// Import reads the configuration of an Apache HTTP server (also .htaccess) or
// of nginx, finds out which of them it is, and turns what it says of
// X-Robots-Tag into rules: in Apache `Header set|add|append|merge|setifempty`
// within <Files>, <FilesMatch>, <Location>, <LocationMatch> or none of them,
// in nginx add_header and more_set_headers within location or none.
//
// A rule says no more than what it was made of: where both can't be the same,
// there is a Problem instead. Both lists are in the order of the lines.
func Import(config []byte) ([]Imported, []Problem) {
	if len(config) > maxImport {
		return nil, []Problem{{1, fmt.Sprintf("file of %d octets, %d are read", len(config), maxImport)}}
	}
	var im importer
	if looksLikeApache(config) {
		im.apache(string(config))
	} else {
		im.nginx(string(config))
	}
	slices.SortStableFunc(im.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return im.rules, im.problems
}

var apacheLine = regexp.MustCompile(`(?mi)^[ \t]*(</?[a-z]|Header[ \t]|RequestHeader[ \t]|SetEnvIf|Rewrite|Options[ \t]|AddType[ \t]|#.*\.htaccess)`)

// looksLikeApache reports whether config is Apache's rather than nginx's,
// whose blocks have braces.
func looksLikeApache(config []byte) bool {
	nginx := bytes.Contains(config, []byte("add_header")) || bytes.Contains(config, []byte("more_set_headers"))
	return apacheLine.Match(config) && (!nginx || bytes.Contains(bytes.ToLower(config), []byte("<files")))
}

// importer collects what is found.
type importer struct {
	rules    []Imported
	problems []Problem
}

func (im *importer) problem(line int, format string, args ...any) {
	im.problems = append(im.problems, Problem{line, fmt.Sprintf(format, args...)})
}

// scope is what a section or location limits a header to: one pattern or
// several of which each does.
type scope []Rule

// everything is the scope outside of all sections.
var everything = scope{{Pattern: "*"}}

// rulesFor are the rules that send value in the scope.
func rulesFor(s scope, value string) ([]Rule, error) {
	tags, err := parseTags(value)
	if err != nil {
		return nil, err
	}
	var rules []Rule
	for _, t := range tags {
		for _, r := range s {
			r.Crawler, r.Directives = t.Crawler, t.Directives
			if err := r.Validate(); err != nil {
				return nil, err
			}
			rules = append(rules, r)
		}
	}
	return rules, nil
}

// add adds the rules that send value in the scope.
func (im *importer) add(line int, s scope, value string) {
	rules, err := rulesFor(s, value)
	if err != nil {
		im.problem(line, "%v", err)
		return
	}
	for _, r := range rules {
		if !slices.ContainsFunc(im.rules, func(i Imported) bool { return i.Rule == r }) {
			im.rules = append(im.rules, Imported{line, r})
		}
	}
}

// parseTags reads an X-Robots-Tag value strictly.
func parseTags(value string) ([]Tag, error) {
	var tags []Tag
	l := list{rest: value}
	for {
		it, more := l.next()
		if !more {
			break
		}
		if it.crawler != "" && nearValued(it.crawler) != "" {
			return nil, unknown(it.crawler)
		}
		one, err := it.directive()
		if err != nil {
			return nil, err
		}
		if n := len(tags); n == 0 || tags[n-1].Crawler != it.crawler {
			tags = append(tags, Tag{Crawler: it.crawler})
		}
		last := &tags[len(tags)-1]
		last.Directives = last.Directives.join(one)
	}
	if len(tags) == 0 {
		return nil, Directives{}.Validate()
	}
	for _, t := range tags {
		if err := t.Directives.Validate(); err != nil {
			return nil, err
		}
	}
	return tags, nil
}

// pathPrefix is the scope of the paths that begin with s.
func pathPrefix(s string) scope {
	if s == "/" {
		return everything
	}
	return scope{{Kind: KindPath, Pattern: quotePath(s)}}
}

// pathExactly is the scope of the path s, with any query or none.
func pathExactly(s string) scope {
	s = quotePath(s)
	return scope{{Kind: KindPath, Pattern: s + "$"}, {Kind: KindPath, Pattern: s + "?"}}
}

// pathFolder is the scope of the path s and of what is below it.
func pathFolder(s string) scope {
	if strings.HasSuffix(s, "/") {
		return pathPrefix(s)
	}
	return append(pathExactly(s), pathPrefix(s+"/")...)
}

// quotePath is a path as a pattern of robots.txt.
func quotePath(s string) string {
	return strings.NewReplacer("%", "%25", "*", "%2A", "$", "%24", "?", "%3F", "#", "%23", " ", "%20").Replace(s)
}

// pathRegexp is the scope of the paths, without query, in which the regular
// expression is found: one that ends in a few literals without a slash is one
// of file names, one that begins with a few is one of paths.
func pathRegexp(s string, fold bool) (scope, error) {
	if fold {
		s = "(?i)" + s
	}
	re, err := newNameRegexp(s)
	if err != nil {
		return nil, err
	}
	var found scope
	for _, g := range re.globs {
		switch {
		case g.literal && strings.HasPrefix(g.prefix, "/"):
			found = append(found, pathExactly(g.prefix)...)
		case !g.literal && g.suffix == "" && strings.HasPrefix(g.prefix, "/"):
			found = append(found, pathPrefix(g.prefix)...)
		case g.literal || g.prefix != "" || g.suffix == "" || strings.Contains(g.suffix, "/"):
			return nil, fmt.Errorf("the regular expression %q on whole paths", clip(s))
		}
	}
	switch {
	case re.globs == nil:
		return nil, fmt.Errorf("the regular expression %q on whole paths", clip(s))
	case found == nil:
		return scope{{Kind: KindRegexp, Pattern: s}}, nil
	}
	return found, nil
}

// String writes the rule as ParseRule reads it, in the quotes that a Caddyfile
// needs.
func (r Rule) String() string {
	var words []string
	if r.Not {
		words = append(words, "not")
	}
	switch r.Kind {
	case KindRegexp:
		words = append(words, "~", quoteWord(r.Pattern))
	case KindType, KindStatus:
		words = append(words, string(r.Kind), quoteWord(r.Pattern))
	default:
		words = append(words, quoteWord(r.Pattern))
	}
	if r.Crawler != "" {
		words = append(words, r.Crawler+":")
	}
	if r.Only {
		words = append(words, "only")
	}
	return strings.Join(append(words, r.Directives.String()), " ")
}

// quoteWord quotes a word of a Caddyfile where it has to be.
func quoteWord(s string) string {
	if !strings.ContainsAny(s, " \t\"`{}#") {
		return s
	}
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}
