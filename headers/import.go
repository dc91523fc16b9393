package headers

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
)

// Imported is the result of Import.
type Imported struct {
	// Sites are the servers or virtual hosts of the configuration that set
	// X-Robots-Tag, in the order of the file.
	Sites []ImportedSite
	// Problems are the problems that belong to no site.
	Problems []Problem
}

// ImportedSite holds the X-Robots-Tag rules of one nginx server or one Apache
// virtual host. They apply only to that site.
type ImportedSite struct {
	// Line is the line where the site's block begins; 0 for lines outside of
	// all blocks.
	Line int
	// Names are the site's host names, as the configuration writes them.
	Names    []string
	Rules    []ImportedRule
	Problems []Problem
}

// ImportedRule is a rule and the line of the configuration that it was
// converted from.
type ImportedRule struct {
	Line int
	Rule Rule
}

// Problem is what Import could not convert, and why.
type Problem struct {
	Line int
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// AllProblems returns the problems of all sites and those that belong to no
// site, sorted by line.
func (im *Imported) AllProblems() []Problem {
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

// maxImport bounds the octets of a configuration that is imported.
const maxImport = 4 << 20

// Import reads a configuration of the Apache HTTP server (also .htaccess) or of
// nginx (also the output of nginx -T). It detects which of the two it is, and
// converts the directives that set X-Robots-Tag to rules, separately for each
// site.
//
// It selects the location or sections of a request, and applies overrides, as
// these servers do. A rule never sends a directive on a request on which the
// configuration does not send it. A line that rules can't express exactly is
// not converted; Import returns a Problem instead.
//
// Rules differ from the configuration in three points. They apply to responses
// of every status; this has no effect, as crawlers index only successful
// responses. They add to the header that a back end sends, and do not replace
// it. And they compare the file name in the URL, not the name of a file on
// disk.
func Import(config []byte) Imported {
	if len(config) > maxImport {
		return Imported{Problems: []Problem{{1, fmt.Sprintf("file of %d octets, %d are read", len(config), maxImport)}}}
	}
	var im Imported
	if looksLikeApache(config) {
		im = importApache(string(config))
	} else {
		im = importNginx(string(config))
	}
	for i := range im.Sites {
		s := &im.Sites[i]
		slices.SortStableFunc(s.Rules, func(a, b ImportedRule) int { return cmp.Compare(a.Line, b.Line) })
		s.Problems = sortedProblems(s.Problems)
	}
	im.Sites = slices.DeleteFunc(im.Sites, func(s ImportedSite) bool { return len(s.Rules)+len(s.Problems) == 0 })
	im.Problems = sortedProblems(im.Problems)
	return im
}

var apacheLine = regexp.MustCompile(`(?mi)^[ \t]*(</?[a-z]|Header[ \t]|RequestHeader[ \t]|SetEnvIf|Rewrite|Options[ \t]|AddType[ \t]|#.*\.htaccess)`)

// looksLikeApache reports whether config is for Apache and not for nginx, whose
// blocks have braces.
func looksLikeApache(config []byte) bool {
	nginx := bytes.Contains(config, []byte("add_header")) || bytes.Contains(config, []byte("more_set_headers"))
	return apacheLine.Match(config) && (!nginx || bytes.Contains(bytes.ToLower(config), []byte("<files")))
}

func (s *ImportedSite) problem(line int, format string, args ...any) {
	s.Problems = append(s.Problems, Problem{line, fmt.Sprintf(format, args...)})
}
