package headersimport

import (
	"path"
	"strings"
)

// nginxDirective is a directive of an nginx configuration
// (nginx.org/en/docs/beginners_guide.html).
type nginxDirective struct {
	line  int
	words []string // the name and the arguments
	block []nginxDirective
	open  bool   // the directive has a block
	text  string // text of the block, if it is a program in another language
}

// maxDepth is the maximal depth of nested blocks or sections.
const maxDepth = 64

// nginxParser parses the directives of one file.
type nginxParser struct {
	tokens   nginxTokens
	problems []Problem
}

func (p *nginxParser) problem(line int, text string) {
	p.problems = append(p.problems, Problem{line, text})
}

// parse parses the directives of a block up to its end. line is the line where
// the block begins, or 0 for the whole file.
func (p *nginxParser) parse(line, depth int) (all []nginxDirective) {
	var d nginxDirective
	for {
		word, kind := p.tokens.next()
		if len(d.words) == 0 {
			d.line = p.tokens.at
		}
		switch kind {
		case nginxEnd:
			if len(d.words) > 0 {
				p.problem(d.line, `"`+clip(d.words[0])+`" does not end in a semicolon`)
			}
			if line > 0 {
				p.problem(line, "the block is never closed")
			}
			return all
		case nginxWord:
			d.words = append(d.words, word)
			continue
		case '}':
			if line > 0 {
				if len(d.words) > 0 {
					p.problem(d.line, `"`+clip(d.words[0])+`" does not end in a semicolon`)
				}
				return all
			}
			p.problem(p.tokens.at, "} has no matching {")
		case '{':
			d.open = true
			switch {
			case depth == maxDepth:
				p.problem(p.tokens.at, "blocks are nested too deeply")
				p.tokens.block()
			case len(d.words) > 0 && strings.HasSuffix(d.words[0], "_by_lua_block"):
				d.text = p.tokens.block()
			default:
				d.block = p.parse(d.line, depth+1)
			}
			all = append(all, d)
		case ';':
			if len(d.words) > 0 {
				all = append(all, d)
			}
		}
		d = nginxDirective{}
	}
}

// nginxFiles has the files of a configuration by their names: a single file
// without a name, or the files that nginx -T prints.
type nginxFiles struct {
	names []string
	files map[string][]nginxDirective
	left  int // number of includes that may still be followed
}

// maxIncludes is the maximal number of includes that are followed.
const maxIncludes = 2000

// dumpMark is the start of the line before each file in the output of nginx -T.
const dumpMark = "# configuration file "

// parseNginx parses a configuration file, or the output of nginx -T. main is
// the first file.
func parseNginx(config string) (main []nginxDirective, f *nginxFiles, problems []Problem) {
	f = &nginxFiles{files: map[string][]nginxDirective{}, left: maxIncludes}
	name, start, line := "", 1, 0
	var text strings.Builder
	end := func() {
		p := nginxParser{tokens: nginxTokens{rest: text.String(), line: start}}
		directives := p.parse(0, 0)
		problems = append(problems, p.problems...)
		if len(f.names) == 0 {
			main = directives
		}
		f.names = append(f.names, name)
		f.files[name] = directives
		text.Reset()
	}
	for l := range strings.Lines(config) {
		line++
		if after, found := strings.CutPrefix(l, dumpMark); found && strings.HasSuffix(strings.TrimSpace(after), ":") {
			if name != "" {
				end()
			}
			text.Reset() // the text before the first file consists of messages of nginx
			name, start = strings.TrimSuffix(strings.TrimSpace(after), ":"), line
		}
		text.WriteString(l)
	}
	end()
	return main, f, problems
}

// include returns the directives of the files that match the argument of an
// include directive. known is false if these files are not in f.
func (f *nginxFiles) include(pattern string) (all []nginxDirective, known bool) {
	if f.names[0] == "" || f.left == 0 {
		return nil, false
	}
	f.left--
	if !path.IsAbs(pattern) {
		pattern = path.Join(path.Dir(f.names[0]), pattern)
	}
	for _, name := range f.names {
		if match, err := path.Match(pattern, name); match && err == nil {
			all = append(all, f.files[name]...)
			known = true
		}
	}
	return all, known || strings.ContainsAny(pattern, "*?[")
}
