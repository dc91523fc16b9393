package headersimport

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
)

// siteImporter collects what the configuration of one site does, and converts it
// when all of it is known.
type siteImporter struct {
	site Site
	*Result
	lines     []headerLine
	sections  []string // sections or locations of which the server may apply another one
	redirects []redirect
	indexes   []string            // names of the files that answer the URL of a folder
	variables map[string]variable // by name, in lower case
	denied    []headerLine        // lines that refuse crawlers
	seen      map[string]bool     // entries, as text
}

// context is what the sections or blocks around a line mean.
type context struct {
	where  pattern
	number int    // of the line
	text   string // the innermost section, for comments; "": none
	top    bool   // nginx: outside of all servers
	always bool   // Apache: Header always
}

// headerLine is a line that sets the header.
type headerLine struct {
	context
	tags []headers.Tag
}

// redirect is a line for which the server answers requests with another URL.
type redirect struct {
	name string // of the directive, and its line
	from pattern
	to   string // a path
}

// variable has the values of a variable of nginx or of the environment of
// Apache.
type variable []value

// value is a value of a variable for some requests.
type value struct {
	number  int
	where   pattern
	text    string
	initial bool // it applies where no other value does
}

func newSite(result *Result, line int, variables map[string]variable) siteImporter {
	return siteImporter{Result: result, site: Site{Line: line}, variables: variables, seen: map[string]bool{}}
}

func (s *siteImporter) comment(number int, missing bool, format string, args ...any) {
	s.entry(Entry{Line: number, Comment: fmt.Sprintf(format, args...), Missing: missing})
}

// notConverted adds a comment with the reason for which a line is not converted.
func (s *siteImporter) notConverted(number int, format string, args ...any) {
	s.comment(number, true, "not converted: "+format, args...)
}

// entry adds an entry unless there is one with the same text.
func (s *siteImporter) entry(e Entry) {
	if key := e.String(); !s.seen[key] && s.spend(e.Line, 10) {
		s.seen[key] = true
		s.site.Entries = append(s.site.Entries, e)
	}
}

// header adds a line that sets the header to text.
func (s *siteImporter) header(in context, text string) {
	if strings.Contains(text, "$") {
		s.notConverted(in.number, "the server computes the value %q for each request", clip(text))
		return
	}
	tags, err := headers.ParseTags(text)
	if err != nil {
		s.notConverted(in.number, "%v", err)
		tags = headers.ReadTags([]string{text}) // the rest
	}
	if s.spend(in.number, 10) && len(tags) > 0 {
		s.lines = append(s.lines, headerLine{in, tags})
	}
}

// headerOf adds a line that sets the header to the value of a variable.
func (s *siteImporter) headerOf(in context, v variable) {
	where, values := in.where, 0
	for _, one := range v.settled() {
		if one.text != "" && s.spend(in.number, 1) {
			values++
			in.where = where.and(one.where)
			s.header(in, one.text)
		}
	}
	if values > 1 {
		s.comment(in.number, false, "the server sends only one of the values; here a request may get several")
	}
}

// settled returns the values of a variable. An initial value excludes the
// requests of another value that is empty.
func (v variable) settled() variable {
	others := slices.DeleteFunc(slices.Clone(v), func(one value) bool { return one.initial })
	all := slices.Clone(others)
	for _, one := range v {
		if !one.initial || one.text == "" {
			continue
		}
		if len(others) == 1 && others[0].text == "" && others[0].where.negate().unsaid == "" {
			one.where = others[0].where.negate()
		} else if len(others) > 0 {
			one.where = one.where.note(false, "the server sends %q only where no other value applies", clip(one.text))
		}
		all = append(all, one)
	}
	return all
}

// variablePart is a variable in the target of a redirect.
var variablePart = regexp.MustCompile(`\$\{?\w+\}?`)

// redirect adds a redirect to a path.
func (s *siteImporter) redirect(number int, name string, from pattern, to string) {
	to, _, _ = strings.Cut(variablePart.ReplaceAllString(to, "x"), "?")
	if strings.HasPrefix(to, "/") { // not a status, a named location or another site
		s.redirects = append(s.redirects, redirect{fmt.Sprintf("%s (line %d)", name, number), from, to})
	}
}

// finish adds the site with the entries for all lines to the result.
func (s *siteImporter) finish(precedence string) {
	if s.indexes == nil {
		s.indexes = []string{"index.html"}
	}
	s.merge()
	var unsent []int // numbers of the lines that the server does not apply to errors
	for _, l := range s.lines {
		if s.spend(l.number, 1+len(s.redirects)) {
			s.rules(&l)
		}
		if !l.always && l.where.unsaid == "" {
			unsent = append(unsent, l.number)
		}
	}
	s.site.denied = s.denied
	s.policy()
	s.sections = slices.Compact(s.sections)
	if slices.ContainsFunc(s.lines, func(l headerLine) bool { return len(s.sections) > 1 || len(s.sections) == 1 && l.text != s.sections[0] }) {
		s.comment(s.site.Line, false, "%s; here, all lines that match a request apply to it. Check these: %s", precedence, strings.Join(s.sections[:min(200, len(s.sections))], ", "))
	}
	if len(unsent) > 0 {
		s.comment(s.site.Line, false, "errors such as 404 get the headers of these lines too, and not from the server: %s", clip(strings.Trim(fmt.Sprint(slices.Compact(unsent)), "[]")))
	}
	slices.SortStableFunc(s.site.Entries, func(a, b Entry) int { return cmp.Compare(a.Line, b.Line) })
	if len(s.site.Entries)+len(s.site.Policy) > 0 {
		s.Sites = append(s.Sites, s.site)
	}
}

// merge makes the site one with an earlier site of the same names, which is at
// another port.
func (s *siteImporter) merge() {
	s.site.key = strings.Join(slices.Sorted(slices.Values(s.site.Names)), " ")
	i := slices.IndexFunc(s.Sites, func(o Site) bool { return o.key == s.site.key && o.key != "" })
	if i < 0 || !s.spend(s.site.Line, len(s.Sites[i].Entries)+len(s.Sites[i].denied)) {
		return
	}
	s.denied = slices.Concat(s.Sites[i].denied, s.denied)
	s.site = s.Sites[i]
	s.Sites = slices.Delete(s.Sites, i, i+1)
	for _, e := range s.site.Entries {
		s.seen[e.String()] = true
	}
}

// rules adds the rules for a line, even for requests that the server answers
// with another URL.
func (s *siteImporter) rules(l *headerLine) {
	s.add(l, l.where)
	answered := func(from pattern, what, to string) {
		s.comment(l.number, false, "%s with %s; here, all requests for which it may do so", what, clip(to))
		from.agent = l.where.agent
		s.add(l, from)
	}
	matches := l.where.matcher()
	for _, r := range s.redirects {
		if matches(r.to) {
			answered(r.from, r.name+" answers requests", r.to)
		}
	}
	for _, name := range s.indexes {
		if folders := l.where.foldersOf(name, matches); folders != nil {
			answered(of(headers.KindPath, folders...), "the server answers the URL of a folder", name)
		}
	}
}

// add adds the rules for a line and a pattern.
func (s *siteImporter) add(l *headerLine, where pattern) {
	if where.unsaid != "" {
		s.notConverted(l.number, "%s", where.unsaid)
	}
	for _, n := range where.notes {
		s.comment(l.number, n.Missing, "%s", n.Comment)
	}
	if slices.ContainsFunc(where.settings, func(r headers.Setting) bool { return r.Kind == headers.KindPath && strings.Contains(r.Pattern, "*") }) {
		s.comment(l.number, false, "a * of the pattern also matches a part of the query")
	}
	names := []string{""}
	if where.agent != "" {
		found, others := s.crawlers(l.number, where)
		if names = headerNames(found); others != "" {
			s.notConverted(l.number, "a header can't name these crawlers: %s", others)
		}
	}
	for _, name := range names {
		for _, t := range l.tags {
			for _, rule := range where.settings {
				rule.Crawler, rule.Only, rule.Directives = cmp.Or(t.Crawler, name), name != "", t.Directives
				_, err := headers.ParseSetting([]string{"*", t.String()}) // a Caddyfile allows fewer names
				if err = cmp.Or(err, rule.Validate()); err != nil {
					s.notConverted(l.number, "%v", err)
				} else if unprintable.MatchString(rule.Pattern) {
					s.notConverted(l.number, "%q has characters that a Caddyfile can't have there", clip(rule.Pattern))
				} else {
					s.entry(Entry{Line: l.number, Rule: rule})
				}
			}
		}
	}
}

// blank is the name of a crawler that has a blank.
var blank = regexp.MustCompile(`^.* .*$`)

// policy adds deny lines for the crawlers that the server refuses.
func (s *siteImporter) policy() {
	s.site.Policy = nil
	denied := map[string]bool{} // names of crawlers, with the paths
	for _, whole := range []bool{true, false} {
		for _, d := range s.denied {
			texts, ok := []string(nil), d.where.isEverything()
			if ok != whole {
				continue
			}
			if !whole {
				texts, ok = root.below(d.where)
			}
			found, others := s.crawlers(d.number, d.where)
			if !ok || others != "" {
				s.notConverted(d.number, "%s", cmp.Or(d.where.unsaid, "a policy can't name these crawlers, or can't select these requests; a matcher of Caddy can refuse them: "+others))
			}
			names := []string{"deny"}
			for _, row := range found {
				if key := row.Name + strings.Join(texts, " "); ok && !denied[row.Name] && !denied[key] {
					denied[key] = true
					names = append(names, blank.ReplaceAllString(row.Name, `"$0"`))
				}
			}
			if len(names) > 1 {
				s.site.Policy = append(s.site.Policy, strings.Join(append(names, texts...), " "))
			}
		}
	}
}

// crawlers returns the crawlers of the registry with a User-Agent that a pattern
// selects, and the alternatives of its expression that match none or too many.
func (r *Result) crawlers(line int, where pattern) (found []*crawler.Crawler, others string) {
	registry := crawler.Builtin()
	sent := func(re *regexp.Regexp, row *crawler.Crawler) bool {
		return slices.ContainsFunc(row.Tokens(), func(token string) bool { return re.MatchString(token + "/1.0") })
	}
	for _, word := range alternatives(where.agent) {
		var matching []*crawler.Crawler
		re, err := regexp.Compile("(?i)" + word)
		for row := range registry.All() {
			if err == nil && r.left > 0 && registry.Lookup(row.Robots[0]) == row && sent(re, row) {
				matching = append(matching, row)
			}
		}
		if r.spend(line, 200); len(matching) == 0 || len(matching) > maxCrawlers {
			others += " " + word
			continue
		}
		for _, row := range matching {
			if !slices.Contains(found, row) {
				found = append(found, row)
			}
		}
	}
	if re, err := regexp.Compile("(?i)" + strings.TrimPrefix(where.except, "|")); where.except != "" && err == nil && r.spend(line, 200) {
		found = slices.DeleteFunc(found, func(row *crawler.Crawler) bool { return sent(re, row) })
	}
	return found, clip(strings.TrimSpace(others))
}

// headerNames returns the names by which a header can address crawlers. A crawler
// that also obeys the name of one before it has none.
func headerNames(found []*crawler.Crawler) (names []string) {
	for _, row := range found {
		if !slices.ContainsFunc(row.Robots, func(token string) bool { return slices.Contains(names, strings.ToLower(token)) }) {
			names = append(names, strings.ToLower(row.Robots[0]))
		}
	}
	return names
}
