package headersimport

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/caddy-robots/caddy-robots/headers"
)

// Result is the result of Import.
type Result struct {
	// Sites are the servers (nginx) or virtual hosts (Apache) that set
	// X-Robots-Tag, in the order of the file.
	Sites []Site
	// Problems are the problems that belong to no site.
	Problems []Problem
}

// Site holds the X-Robots-Tag rules of one nginx server or one Apache
// virtual host. They apply only to that site.
type Site struct {
	// Line is the line number at which the site's block begins, 0 for a site
	// outside of all blocks.
	Line int
	// Names are the site's host names, as the configuration writes them.
	Names    []string
	Rules    []Rule
	Problems []Problem
}

// Rule is a rule and the line of the configuration that it was
// converted from.
type Rule struct {
	Line int
	Rule headers.Setting
}

// Problem is a line of the configuration that Import could not convert exactly.
// Text is the reason.
type Problem struct {
	Line int
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// AllProblems returns the problems of all sites and the problems that belong to
// no site, sorted by line and without duplicates.
func (im *Result) AllProblems() []Problem {
	all := slices.Clone(im.Problems)
	for _, s := range im.Sites {
		all = append(all, s.Problems...)
	}
	return sortedProblems(all)
}

func sortedProblems(all []Problem) []Problem {
	slices.SortStableFunc(all, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text)) })
	return slices.Compact(all)
}

// maxImport is the maximal size of a configuration, in octets.
const maxImport = 4 << 20

// Import reads a configuration of the Apache HTTP server (also a .htaccess
// file) or of nginx (also the output of nginx -T). It detects the kind of the
// configuration, and converts the directives that set X-Robots-Tag to rules,
// separately for each site. If config is larger than 4 MiB, Import converts
// nothing, and returns one Problem.
//
// Import considers how these servers choose the location or the sections for a
// request, and which directives override others. Apart from the three
// differences below, a rule never sends a directive for a request for which the
// configuration does not send it. If rules can't express a line exactly, Import
// does not convert it, and returns a Problem instead.
//
// Rules differ from the configuration in three points. They apply to responses
// with any status; this makes no difference, since crawlers index only
// successful responses. They add to the header that a back end sends, and do
// not replace it. They compare the file name in the URL, and not the name of a
// file on disk.
func Import(config []byte) Result {
	if len(config) > maxImport {
		return Result{Problems: []Problem{{1, fmt.Sprintf("the file has %d octets; at most %d are allowed", len(config), maxImport)}}}
	}
	var im Result
	if looksLikeApache(config) {
		im = importApache(string(config))
	} else {
		im = importNginx(string(config))
	}
	for i := range im.Sites {
		s := &im.Sites[i]
		slices.SortStableFunc(s.Rules, func(a, b Rule) int { return cmp.Compare(a.Line, b.Line) })
		s.Problems = sortedProblems(s.Problems)
	}
	im.Sites = slices.DeleteFunc(im.Sites, func(s Site) bool { return len(s.Rules)+len(s.Problems) == 0 })
	im.Problems = sortedProblems(im.Problems)
	return im
}

var apacheLine = regexp.MustCompile(`(?mi)^[ \t]*(</?[a-z]|Header[ \t]|RequestHeader[ \t]|SetEnvIf|Rewrite|Options[ \t]|AddType[ \t]|#.*\.htaccess)`)

// looksLikeApache reports whether config is a configuration of Apache and not
// of nginx.
func looksLikeApache(config []byte) bool {
	nginx := bytes.Contains(config, []byte("add_header")) || bytes.Contains(config, []byte("more_set_headers"))
	return apacheLine.Match(config) && (!nginx || bytes.Contains(bytes.ToLower(config), []byte("<files")))
}

// fieldName is the name of the field that the rules add.
const fieldName = "X-Robots-Tag"

// clip shortens untrusted input for messages.
func clip(s string) string {
	const limit = 80
	if len(s) > limit {
		return s[:limit] + "…"
	}
	return s
}

func (s *Site) problem(line int, format string, args ...any) {
	s.Problems = append(s.Problems, Problem{line, fmt.Sprintf(format, args...)})
}
