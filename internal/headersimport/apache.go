package headersimport

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/headers"
)

// apacheDirective is a directive or a section of an Apache configuration
// (httpd.apache.org/docs/2.4/configuring.html).
type apacheDirective struct {
	line    int
	name    string   // in lower case
	words   []string // the name as written, and the arguments
	section bool
	inner   []apacheDirective
}

// apacheParser parses the rest of the lines of a configuration.
type apacheParser struct {
	*Result
	rest string
	line int // number of the first line of rest
}

// sectionTag is a tag that begins or ends a section. Apache requires that it is
// on a line of its own.
var sectionTag = regexp.MustCompile(`^<(/?)(\w+)(\s*[<>=]+[^>]*|[^>]*|.*["'])\s*>$`)

// parse parses the directives of the section open, or the whole configuration if
// open is "".
func (p *apacheParser) parse(open string, depth int) (all []apacheDirective) {
	for p.rest != "" {
		text, rest, _ := strings.Cut(p.rest, "\n")
		line := p.line
		p.rest, p.line = rest, line+1+strings.Count(text, "\x00")
		text = strings.TrimSpace(strings.ReplaceAll(text, "\x00", ""))
		tag := sectionTag.FindStringSubmatch(text)
		switch {
		case text == "" || text[0] == '#':
		case tag != nil && tag[1] == "" && depth < maxDepth:
			d := apacheDirective{line: line, name: strings.ToLower(tag[2]), words: append(tag[2:3:3], apacheWords(tag[3])...), section: true}
			d.inner = p.parse(d.name, depth+1)
			all = append(all, d)
		case tag != nil && strings.ToLower(tag[2]) == open:
			return all
		case text[0] == '<' || strings.HasSuffix(text, ">") && strings.Contains(text, "</"):
			p.missing(line, "%s: the tags of a section must be in pairs and on lines of their own", clip(text))
		default:
			words := apacheWords(text)
			all = append(all, apacheDirective{line: line, name: strings.ToLower(words[0]), words: words})
		}
	}
	if open != "" {
		p.missing(p.line, "<%s> is never closed", clip(open))
	}
	return all
}

// apacheWord is a word of a line. Quotes enclose a word with blanks, and a
// backslash escapes a quote or another backslash.
var apacheWord = regexp.MustCompile(`"((?:\\.|[^"\\])*)"?|'((?:\\.|[^'\\])*)'?|\S+`)

func apacheWords(s string) (words []string) {
	for _, m := range apacheWord.FindAllStringSubmatch(s, -1) {
		if c := m[0][0]; c == '"' || c == '\'' {
			words = append(words, unescape.Replace(m[1]+m[2]))
		} else {
			words = append(words, strings.ReplaceAll(m[0], `\\`, `\`))
		}
	}
	return words
}

// apacheSite imports the main server or a virtual host.
type apacheSite struct {
	siteImporter
	root string // DocumentRoot
}

// importApache imports a configuration of Apache.
func importApache(result *Result, config string) {
	hosts, rest := []apacheDirective{{}}, []apacheDirective(nil)
	config = strings.ReplaceAll(strings.ReplaceAll(config, "\r\n", "\n"), "\\\n", "\x00") // a line may go on
	for _, d := range (&apacheParser{result, config, 1}).parse("", 0) {
		if d.name == "virtualhost" {
			hosts = append(hosts, d)
		} else {
			rest = append(rest, d)
		}
	}
	for _, host := range hosts {
		if !result.spend(host.line, len(rest)) {
			return
		}
		s := &apacheSite{siteImporter: newSite(result, host.line, map[string]variable{})}
		s.settings(slices.Concat(host.inner, rest))
		s.walk(slices.Concat(rest, host.inner), context{where: everything})
		s.finish("Apache merges sections in the order Directory, Files, Location, If, and a later Header set or unset overrides")
	}
}

// settings reads the names of the server, and the directives that map URLs to
// files.
func (s *apacheSite) settings(all []apacheDirective) {
	for _, d := range all {
		switch args := d.words[1:]; {
		case d.name == "servername" || d.name == "serveralias":
			for _, name := range args {
				name, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "http://"), ":")
				s.site.Names = append(s.site.Names, name)
			}
		case d.name == "documentroot" && len(args) == 1:
			s.root = cmp.Or(s.root, strings.TrimRight(path.Clean(args[0]), "/")+"/")
		case d.name == "directoryindex":
			s.indexes = append(s.indexes, args...)
		case d.section:
			s.settings(d.inner)
		}
	}
}

// harmlessIncludes are files of Apache, nginx and common packages that set no
// headers and have no locations.
var harmlessIncludes = regexp.MustCompile(`(^|/)(ports\.conf|options-ssl-(apache|nginx)\.conf|serve-cgi-bin\.conf|\*\.load|mime\.types|(fastcgi|uwsgi|scgi|proxy)_params|fastcgi(-php)?\.conf|snakeoil\.conf)$`)

// walk reads directives in a context.
func (s *apacheSite) walk(all []apacheDirective, in context) {
	for _, d := range all {
		if !s.spend(d.line, 1) {
			return
		}
		switch args := d.words[1:]; {
		case d.section:
			s.walk(d.inner, s.enter(in, &d))
		case d.name == "header" && mentions(args):
			in.number = d.line
			s.headerLine(in, args)
		case strings.HasPrefix(d.name, "browsermatch"):
			s.setVariables(d.line, in.where, append([]string{"User-Agent"}, args...), d.name)
		case strings.HasPrefix(d.name, "setenvif"):
			s.setVariables(d.line, in.where, args, d.name)
		case d.name == "deny" || d.name == "require":
			s.access(in, &d)
		case strings.HasPrefix(d.name, "include") && len(args) == 1 && !harmlessIncludes.MatchString(args[0]):
			s.notConverted(d.line, "the included file %s is missing; import the output of httpd -t -D DUMP_CONFIG, which has all files", clip(args[0]))
		case d.name == "use", mentions(args), d.name == "rewritecond" && strings.Contains(strings.ToUpper(strings.Join(args, "")), "HTTP_USER_AGENT"):
			s.notConverted(d.line, "%s", clip(strings.Join(d.words, " ")))
		}
	}
}

// headerLine reads a Header directive (mod_headers).
func (s *apacheSite) headerLine(in context, args []string) {
	text := clip(strings.Join(args, " "))
	if in.always = strings.EqualFold(args[0], "always"); in.always || strings.EqualFold(args[0], "onsuccess") {
		args = args[1:]
	}
	if in.text != "" {
		s.sections = append(s.sections, in.text)
	}
	if len(args) < 3 || !strings.EqualFold(strings.TrimSuffix(args[1], ":"), fieldName) || !slices.Contains([]string{"set", "add", "append", "merge", "setifempty"}, strings.ToLower(args[0])) {
		s.notConverted(in.number, "Header %s", text)
		return
	}
	if strings.EqualFold(args[0], "set") && len(args) == 3 { // it replaces what is set before in the same place
		s.lines = slices.DeleteFunc(s.lines, func(l headerLine) bool { return l.text == in.text && l.always == in.always })
	}
	conditions, outer := variable{{where: everything}}, in.where
	for _, c := range args[3:] {
		if name, found := strings.CutPrefix(c, "env="); found {
			conditions = s.environment(name)
		} else {
			conditions = variable{{where: condition(strings.TrimPrefix(c, "expr="))}}
		}
	}
	for _, c := range conditions {
		in.where = outer.and(c.where)
		s.header(in, strings.NewReplacer("%%", "%", "%", "$", "expr=", "$").Replace(args[2]))
	}
}

// comparison is an expression that compares a variable with a text or with a
// regular expression (httpd.apache.org/docs/2.4/expr.html).
var comparison = regexp.MustCompile(`^%\{(?:resp:)?([\w-]+)\}\s*(?:(?:==|-eq)\s*'?([^']+?)'?|=~\s*(?:m#(.*)#|m\|(.*)\||m?/(.*)/)(i?))$`)

// condition returns the pattern of the requests for which an expression is true.
func condition(expr string) pattern {
	m, op := comparison.FindStringSubmatch(strings.TrimSpace(expr)), "="
	if m == nil {
		return unsaid("the condition %s", clip(expr))
	} else if m[2] == "" {
		op = "~" + strings.Replace(m[6], "i", "*", 1)
	}
	return compare(m[1], op, strings.ReplaceAll(m[2]+m[3]+m[4]+m[5], `\/`, "/"))
}

// environment returns the conditions under which a variable of the environment
// is set, or not set if its name begins with an exclamation mark.
func (s *apacheSite) environment(name string) variable {
	name, not := strings.CutPrefix(strings.ToLower(name), "!")
	all := s.set(s.variables[name])
	switch {
	case len(all) == 0 || not && len(all) > 1:
		return variable{{where: unsaid("the condition env=%s", clip(name))}}
	case not:
		all[0].where = all[0].where.negate()
	}
	return all
}

// set returns the values of a variable that are not empty, without the crawlers for
// which a later line unsets it.
func (s *apacheSite) set(v variable) (all variable) {
	for i, except := len(v)-1, ""; i >= 0 && s.spend(v[i].number, 1); i-- {
		one := v[i]
		switch {
		case one.text != "":
			one.where.except = except
			all = append(all, one)
		case one.where.agent == "":
			s.comment(one.number, false, "it unsets a variable for some requests; here, the variable stays set")
		case len(except) < maxExpression:
			except += "|" + one.where.agent
		}
	}
	slices.Reverse(all)
	return all
}

// setVariables reads a directive of mod_setenvif: an attribute, a regular
// expression, and the variables that it sets if the attribute matches.
func (s *apacheSite) setVariables(line int, where pattern, args []string, name string) {
	op := "~"
	if strings.HasSuffix(name, "nocase") {
		op = "~*"
	}
	for _, set := range args[min(2, len(args)):] {
		variable, text, found := strings.Cut(set, "=")
		if !found {
			text = "1"
		}
		if variable, found = strings.CutPrefix(variable, "!"); found {
			text = ""
		}
		variable = strings.ToLower(variable)
		s.variables[variable] = append(s.variables[variable], value{number: line, where: where.and(compare(args[0], op, args[1])), text: text})
	}
}

// refusal is a directive that refuses requests with a variable.
var refusal = regexp.MustCompile(`(?i)^(?:deny from (?:.* )?env=|require not env )(\S+)`)

// access reads a directive that may refuse requests.
func (s *apacheSite) access(in context, d *apacheDirective) {
	m, where := refusal.FindStringSubmatch(strings.Join(d.words, " ")), in.where
	if m == nil {
		return
	}
	for _, one := range s.set(s.variables[strings.ToLower(m[1])]) {
		if in.number, in.where = one.number, where.and(one.where); one.where.agent != "" {
			s.denied = append(s.denied, headerLine{context: in})
		}
	}
}

// enter returns the context inside a section.
func (s *apacheSite) enter(in context, d *apacheDirective) context {
	name, args := d.name, d.words[1:]
	text := fmt.Sprintf("<%s> (line %d)", clip(strings.Join(d.words, " ")), d.line)
	if len(args) == 2 && args[0] == "~" && !strings.HasSuffix(name, "match") {
		name, args = name+"match", args[1:]
	}
	where := unsaid("x_robots_tag can't select these requests")
	switch arg := strings.Join(args, ""); {
	case name == "requireall" || name == "requireany" || name == "limit" && slices.Contains(args, "GET"):
		return in
	case strings.HasPrefix(name, "if") && name != "if" && !strings.HasPrefix(arg, "!"): // IfModule and the like
		if !strings.Contains(arg, "headers") {
			in.where = in.where.note(false, "converted as if %s holds", text)
		}
		return in
	case len(args) != 1:
	case name == "files":
		where = nameGlob(arg)
	case name == "filesmatch":
		where = of(headers.KindRegexp, arg)
	case name == "location" && strings.HasPrefix(arg, "/") && !strings.ContainsAny(arg, "*?["):
		where = pathFolder(arg)
	case name == "locationmatch":
		where = pathExpression(arg, false)
	case name == "directory":
		where = s.folder(arg)
	case name == "if":
		where = condition(arg)
	}
	if where.unsaid != "" {
		where.unsaid = text + ": " + where.unsaid
	}
	in.where, in.text = in.where.and(where), text
	return in
}

// folder returns the pattern of the URLs of a folder.
func (s *apacheSite) folder(dir string) pattern {
	dir = strings.TrimRight(path.Clean(dir), "/") + "/"
	below, found := strings.CutPrefix(dir, s.root)
	switch {
	case s.root == "" || strings.ContainsAny(dir, "*?[$"):
		return unsaid("the URLs of the folder are not known without a DocumentRoot")
	case found:
		return pathFolder("/" + below)
	case strings.HasPrefix(s.root, dir):
		return everything
	}
	return unsaid("the folder is not below DocumentRoot")
}
