package headersimport

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/headers"
)

// nginxDirective is a directive of an nginx configuration
// (nginx.org/en/docs/beginners_guide.html).
type nginxDirective struct {
	line  int
	words []string // the name and the arguments; without them, the name is ""
	block []nginxDirective
	open  bool // it has a block
}

// nginxParser parses the directives of one file.
type nginxParser struct {
	rest   string
	line   int // number of the line at the start of rest
	result *Result
}

// nginxToken is a token with the blanks and comments before it.
var nginxToken = regexp.MustCompile(`^((?:\s|#[^\n]*(?:\n|$))*)([{};]|"(?:\\[\s\S]|[^"\\])*"?|'(?:\\[\s\S]|[^'\\])*'?|(?:\\[\s\S]|\$\{|[^\s;{\\])+|\\|$)`)

// next returns the next token and the number of its line. The token is "" at
// the end.
func (p *nginxParser) next() (token string, line int) {
	m := nginxToken.FindStringSubmatch(p.rest)
	line = p.line + strings.Count(m[1], "\n")
	p.line = line + strings.Count(m[2], "\n")
	p.rest = p.rest[len(m[0]):]
	return m[2], line
}

// unescape removes the backslashes of a word with quotes.
var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`)

// parse parses the directives of a block up to its end.
func (p *nginxParser) parse(depth int) (all []nginxDirective) {
	var d nginxDirective
	for {
		token, line := p.next()
		if len(d.words) == 0 {
			d.line = line
		}
		switch token {
		case "", "}":
			if d.words != nil || (token == "") != (depth == 0) {
				p.result.missing(d.line, "a semicolon or a brace is missing")
			}
			if d.words != nil {
				all = append(all, d)
			}
			if token == "" || depth > 0 {
				return all
			}
		case "{", ";":
			if d.open = token == "{"; d.open && depth == maxDepth {
				p.result.missing(line, "blocks are nested too deeply")
				p.rest = ""
			} else if d.open {
				outer := p.result
				if len(d.words) > 0 && strings.HasSuffix(d.words[0], "_by_lua_block") {
					p.result = &Result{} // another language
				}
				d.block, p.result = p.parse(depth+1), outer
			}
			if len(d.words) > 0 {
				all = append(all, d)
			}
		default:
			if quote := token[:1]; quote == `"` || quote == "'" {
				token = strings.TrimSuffix(token[1:], quote)
			}
			d.words = append(d.words, unescape.Replace(token))
			continue
		}
		d = nginxDirective{}
	}
}

// nginxFile is a file of a configuration. It has no name if there is only one.
type nginxFile struct {
	name       string
	directives []nginxDirective
}

// dumpMark is the line before each file in the output of nginx -T.
var dumpMark = regexp.MustCompile(`(?m)^# configuration file (.*):\s*$`)

// parseNginx parses a configuration file, or the output of nginx -T.
func parseNginx(result *Result, config string) (files []nginxFile) {
	marks, at, line := dumpMark.FindAllStringSubmatchIndex(config, -1), 0, 1
	if marks == nil {
		marks = [][]int{{0, 0, 0, 0}}
	}
	for i, m := range marks {
		end := len(config)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		line, at = line+strings.Count(config[at:m[0]], "\n"), m[0]
		p := nginxParser{config[at:end], line, result}
		files = append(files, nginxFile{config[m[2]:m[3]], p.parse(0)})
	}
	return files
}

// flatten replaces include directives with the directives of the files.
func (im *nginxImporter) flatten(directives []nginxDirective) (flat []nginxDirective) {
	for _, d := range directives {
		if !im.spend(d.line, 1) {
			return flat
		}
		if len(d.words) != 2 || d.words[0] != "include" || harmlessIncludes.MatchString(d.words[1]) {
			flat = append(flat, d)
			continue
		}
		im.spend(d.line, len(im.files))
		pattern, found := d.words[1], strings.ContainsAny(d.words[1], "*?[")
		if !path.IsAbs(pattern) {
			pattern = path.Join(path.Dir(im.files[0].name), pattern)
		}
		for _, f := range im.files {
			if match, _ := path.Match(pattern, f.name); match {
				flat, found = slices.Concat(flat, im.flatten(f.directives)), true
			}
		}
		if !found || im.files[0].name == "" {
			im.missing(d.line, "the included file %s is missing; import the output of nginx -T, which has all files", clip(d.words[1]))
		}
	}
	return flat
}

// nginxImporter imports the servers of a configuration.
type nginxImporter struct {
	*Result
	files  []nginxFile
	mapped map[string]variable // variables of map blocks
}

// nginxSite imports a server block.
type nginxSite struct {
	siteImporter
	importer *nginxImporter
	own      bool // the server block has add_header lines, so that it inherits none
}

// importNginx imports a configuration of nginx.
func importNginx(result *Result, config string) {
	im := &nginxImporter{result, parseNginx(result, config), map[string]variable{}}
	http := im.flatten(im.files[0].directives)
	if i := slices.IndexFunc(http, func(d nginxDirective) bool { return d.open && d.words[0] == "http" }); i >= 0 {
		http = im.flatten(http[i].block)
	}
	var common, servers []nginxDirective
	for _, d := range http {
		switch {
		case d.open && d.words[0] == "map" && len(d.words) == 3:
			im.mapBlock(&d)
		case d.open && d.words[0] == "server":
			servers = append(servers, d)
		default:
			common = append(common, d)
		}
	}
	if servers == nil { // a file that a server block includes
		servers = []nginxDirective{{}}
	}
	for _, d := range servers {
		im.server(&d, common)
	}
}

// mapBlock reads a map block, which sets a variable by the value of another.
func (im *nginxImporter) mapBlock(d *nginxDirective) {
	var v variable
	for _, entry := range im.flatten(d.block) {
		if len(entry.words) != 2 {
			continue
		}
		key := nginxModifier.FindStringSubmatch(entry.words[0])
		one := value{number: entry.line, text: entry.words[1], where: everything, initial: key[2] == "default"}
		if !one.initial {
			one.where = compare(d.words[1], cmp.Or(key[1], "="), key[2])
		}
		v = append(v, one)
	}
	im.mapped[strings.ToLower(d.words[2])] = v
}

// server imports a server block. common are the directives around it.
func (im *nginxImporter) server(d *nginxDirective, common []nginxDirective) {
	s := &nginxSite{newSite(im.Result, d.line, maps.Clone(im.mapped)), im, false}
	s.walk(context{where: everything, top: true}, common)
	s.walk(context{where: everything}, d.block)
	if s.own {
		s.lines = slices.DeleteFunc(s.lines, func(l headerLine) bool { return l.top })
	}
	s.finish("nginx applies only one location to a request, and a block that has add_header lines inherits none")
}

// walk reads the directives of a block.
func (s *nginxSite) walk(in context, block []nginxDirective) {
	for _, d := range s.importer.flatten(block) {
		in.number = d.line
		text := clip(strings.Join(d.words, " "))
		inner := in
		inner.text, inner.top = fmt.Sprintf("%s (line %d)", text, d.line), false
		switch {
		case !d.open:
			s.directive(in, d.words[0], d.words[1:])
		case d.words[0] == "location" && len(d.words) > 1:
			s.sections = append(s.sections, inner.text)
			m := nginxModifier.FindStringSubmatch(strings.Join(d.words[1:], " "))
			inner.where = in.where.and(locationPattern(m[1], m[2]))
			s.walk(inner, d.block)
		case d.words[0] == "if" && len(d.words) > 1:
			s.sections = append(s.sections, inner.text)
			for _, c := range s.condition(slices.Clone(d.words[1:])) {
				inner.where = in.where.and(c.where)
				s.walk(inner, d.block)
			}
		case d.mentions():
			s.notConverted(d.line, "%s", text)
		}
	}
}

// mentions reports whether a block contains the name of the field.
func (d nginxDirective) mentions() bool {
	return mentions(d.words) || slices.ContainsFunc(d.block, nginxDirective.mentions)
}

// nginxModifier begins the pattern of a location or of an entry of a map. There
// may be no blank after it.
var nginxModifier = regexp.MustCompile(`^(=|\^~|~\*|~)? ?(?s)(.*)$`)

func locationPattern(modifier, uri string) pattern {
	switch {
	case strings.HasPrefix(modifier, "~"):
		return pathExpression(uri, modifier == "~*")
	case !strings.HasPrefix(uri, "/"):
		return unsaid("location %s: no redirect that this command knows leads there", clip(uri))
	case modifier == "=":
		return compare("$uri", "=", uri)
	}
	return of(headers.KindPath, quotePath(uri))
}

// condition returns the alternatives of the condition of an if block.
func (s *nginxSite) condition(words []string) (all variable) {
	words[0] = strings.TrimPrefix(words[0], "(")
	words[len(words)-1] = strings.TrimSuffix(words[len(words)-1], ")")
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	if len(words) == 1 {
		words = append(words, "!=", "0")
	}
	if len(words) != 3 {
		return variable{{where: unsaid("the condition %s", clip(strings.Join(words, " ")))}}
	}
	op, not := strings.CutPrefix(words[1], "!")
	if known := s.variables[strings.ToLower(words[0])]; known != nil && op == "=" {
		except := "" // crawlers with another value, because the first expression of a map that matches decides
		for _, one := range known.settled() {
			if (one.text == words[2]) != not && !(not && one.text == "") {
				one.where.except = except
				all = append(all, one)
			} else if one.where.agent != "" && len(except) < maxExpression {
				except += "|" + one.where.agent
			}
		}
		return all
	}
	where := compare(words[0], op, words[2])
	if not {
		where = where.negate()
	}
	return variable{{where: where}}
}

// directive reads a directive without a block.
func (s *nginxSite) directive(in context, name string, args []string) {
	last := append([]string{""}, args...)[len(args)]
	switch {
	case name == "server_name":
		s.site.Names = append(s.site.Names, args...)
	case name == "add_header":
		s.own = s.own || in.text == "" && !in.top
		if len(args) > 1 && strings.EqualFold(args[0], fieldName) && args[1] != "" { // nginx sends no empty header
			in.always = last == "always"
			s.addHeader(in, args[1])
		}
	case name == "more_set_headers" && !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") }):
		in.top, in.always = false, true // inherited in any case
		for _, arg := range args {
			if field, text, _ := strings.Cut(arg, ":"); strings.EqualFold(strings.TrimSpace(field), fieldName) && strings.TrimSpace(text) != "" {
				s.addHeader(in, strings.TrimSpace(text))
			}
		}
	case name == "set" && len(args) == 2:
		name = strings.ToLower(args[0])
		s.variables[name] = append(s.variables[name], value{number: in.number, where: in.where, text: args[1], initial: in.text == ""})
	case name == "try_files", name == "error_page" && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "=") }):
		s.redirect(in.number, name, in.where, last)
	case name == "rewrite" && len(args) > 1 && !slices.Contains([]string{"redirect", "permanent", "break"}, last):
		s.redirect(in.number, name, in.where.and(pathExpression(args[0], false)), args[1])
	case name == "index":
		s.indexes = append(s.indexes, args...)
	case name == "return" && len(args) > 0 && strings.HasPrefix(args[0], "4") && in.where.agent != "":
		s.denied = append(s.denied, headerLine{context: in})
	case mentions(append(args, name)):
		s.notConverted(in.number, "%s %s", name, clip(strings.Join(args, " ")))
	}
}

// addHeader adds a line that sets the header to a text or a variable.
func (s *nginxSite) addHeader(in context, text string) {
	if v := s.variables[strings.ToLower(text)]; v != nil {
		s.headerOf(in, v)
	} else {
		s.header(in, text)
	}
}
