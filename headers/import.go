package headers

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
)

// Imported is what Import made of another server's configuration.
type Imported struct {
	// Sites are the servers or virtual hosts of the configuration that say
	// something of X-Robots-Tag, in the order of the file.
	Sites []ImportedSite
	// Problems are those outside of all sites.
	Problems []Problem
}

// ImportedSite is what one server of nginx, or one virtual host of Apache, says
// of X-Robots-Tag. What is meant for it is meant for no other site.
type ImportedSite struct {
	// Line is where its block begins; 0 for what stands outside of all blocks.
	Line int
	// Names are the names that requests for it come under, as the configuration
	// writes them.
	Names    []string
	Rules    []ImportedRule
	Problems []Problem
}

// ImportedRule is a rule and the line of the configuration that it stands for.
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

// AllProblems returns the problems of the sites and those outside of them, by
// their lines.
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

// Import reads the configuration of an Apache HTTP server (also .htaccess) or
// of nginx (also the output of nginx -T), finds out which of them it is, and
// converts what it says of X-Robots-Tag into rules, for each site apart.
//
// It decides as these servers do which location or which sections a request
// falls under, and what overrides what. A rule asks for nothing that the
// configuration doesn't ask for on the same requests. What rules can't say
// exactly is not converted: there is a Problem instead.
//
// In three points rules are not compared with the configuration: they go out
// with responses of every status, which changes nothing, as nothing but
// successful responses is indexed; they add to what a back end sends itself,
// and don't replace it; and names of files are those in the URL.
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

// looksLikeApache reports whether config is Apache's rather than nginx's,
// whose blocks have braces.
func looksLikeApache(config []byte) bool {
	nginx := bytes.Contains(config, []byte("add_header")) || bytes.Contains(config, []byte("more_set_headers"))
	return apacheLine.Match(config) && (!nginx || bytes.Contains(bytes.ToLower(config), []byte("<files")))
}

func (s *ImportedSite) problem(line int, format string, args ...any) {
	s.Problems = append(s.Problems, Problem{line, fmt.Sprintf(format, args...)})
}
