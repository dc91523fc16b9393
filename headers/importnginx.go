package headers

import (
	"fmt"
	"strings"
)

// block is an open block of an nginx configuration.
type block struct {
	scope scope
	why   string // what can't be turned about it
	line  int
	tags  int // lines of X-Robots-Tag in it
}

// nginx reads nginx's configuration (nginx.org/en/docs/beginners_guide.html).
func (im *importer) nginx(config string) {
	open := []block{{scope: everything}}
	var words []string
	line := 0
	for t := (nginxTokens{rest: config, line: 1}); ; {
		word, kind := t.next()
		if line == 0 || len(words) == 0 {
			line = t.at
		}
		switch kind {
		case nginxEnd:
			if len(open) > 1 {
				im.problem(open[len(open)-1].line, "the block is never closed")
			}
			if len(words) > 0 {
				im.problem(line, "%q does not end in a semicolon", clip(words[0]))
			}
			return
		case nginxWord:
			words = append(words, word)
			continue
		case nginxOpen:
			if len(open) == maxDepth {
				im.problem(t.at, "blocks are nested deeper than %d", maxDepth)
				return
			}
			open = append(open, nginxBlock(line, words, &open[len(open)-1]))
		case nginxClose:
			if len(open) == 1 {
				im.problem(t.at, "} closes nothing that is open")
			} else {
				open = open[:len(open)-1]
			}
		case nginxSemicolon:
			im.nginxHeader(line, words, open)
		}
		words = words[:0]
	}
}

// nginxBlock is what a block limits its content to. A location within another
// stands for itself: it can only be reached through the outer one.
func nginxBlock(line int, words []string, outer *block) block {
	b := block{scope: outer.scope, why: outer.why, line: line}
	if len(words) == 0 {
		return b
	}
	switch words[0] {
	case "http", "server":
	case "location":
		b.scope, b.why = nginxLocation(words[1:])
	case "if", "limit_except", "map", "geo", "split_clients":
		b.why = fmt.Sprintf("%s %s: a rule knows names, paths, media types and statuses only", words[0], clip(strings.Join(words[1:], " ")))
	}
	return b
}

// nginxLocation is the scope of a location and why it can't be turned.
func nginxLocation(words []string) (scope, string) {
	modifier, uri := "", strings.Join(words, " ")
	if len(words) == 2 {
		modifier, uri = words[0], words[1]
	} else if strings.HasPrefix(uri, "=") { // the modifier needs no blank
		modifier, uri = "=", uri[1:]
	}
	switch {
	case uri == "" || len(words) > 2:
		return nil, fmt.Sprintf("location %s", clip(strings.Join(words, " ")))
	case modifier == "~" || modifier == "~*":
		s, err := pathRegexp(uri, modifier == "~*")
		if err != nil {
			return nil, err.Error()
		}
		return s, ""
	case !strings.HasPrefix(uri, "/"):
		return nil, fmt.Sprintf("location %s is reached by name only", clip(uri))
	case modifier == "=":
		return pathExactly(uri), ""
	}
	return pathPrefix(uri), ""
}

// nginxHeader reads add_header (ngx_http_headers_module) and more_set_headers
// (headers-more).
func (im *importer) nginxHeader(line int, words []string, open []block) {
	if len(words) == 0 {
		return
	}
	var values []string
	switch words[0] {
	case "add_header":
		if len(words) < 3 || !strings.EqualFold(words[1], fieldName) {
			return
		}
		values = words[2:3]
	case "more_set_headers":
		for _, w := range words[1:] {
			if w == "-s" || w == "-t" {
				im.problem(line, "more_set_headers with %s", w)
				return
			}
			name, value, found := strings.Cut(w, ":")
			if found && strings.EqualFold(strings.TrimSpace(name), fieldName) {
				values = append(values, strings.TrimSpace(value))
			}
		}
	default:
		return
	}
	b := &open[len(open)-1]
	for _, value := range values {
		switch {
		case b.why != "":
			im.problem(line, "can't be turned: %s", b.why)
		case strings.Contains(value, "$"):
			im.problem(line, "the value %q is computed for each request", clip(value))
		case value == "": // nginx sends no such header
		default:
			im.add(line, b.scope, value)
		}
		for i := range open[:len(open)-1] {
			if open[i].tags > 0 && words[0] == "add_header" {
				im.problem(line, "nginx sends this instead of what the outer block adds, the rules send both")
				break
			}
		}
		b.tags++
	}
}

type nginxToken uint8

const (
	nginxEnd nginxToken = iota
	nginxWord
	nginxOpen
	nginxClose
	nginxSemicolon
)

// nginxTokens parts an nginx configuration into tokens.
type nginxTokens struct {
	rest string
	line int // of rest
	at   int // of the last token
}

func (t *nginxTokens) next() (string, nginxToken) {
	for {
		n := len(t.rest) - len(strings.TrimLeft(t.rest, " \t\r\n"))
		t.skip(n)
		if !strings.HasPrefix(t.rest, "#") {
			break
		}
		end := strings.IndexByte(t.rest, '\n')
		if end < 0 {
			end = len(t.rest)
		}
		t.skip(end)
	}
	t.at = t.line
	if t.rest == "" {
		return "", nginxEnd
	}
	switch t.rest[0] {
	case '{':
		t.skip(1)
		return "", nginxOpen
	case '}':
		t.skip(1)
		return "", nginxClose
	case ';':
		t.skip(1)
		return "", nginxSemicolon
	}
	return t.word(), nginxWord
}

// word reads a word, quoted or not. A brace after a $ is part of it.
func (t *nginxTokens) word() string {
	s, quote := t.rest, byte(0)
	i := 0
	if s[0] == '"' || s[0] == '\'' {
		quote, i = s[0], 1
	}
	var word strings.Builder
	for ; i < len(s); i++ {
		c := s[i]
		if c == quote && quote != 0 {
			i++
			break
		}
		if quote == 0 && (strings.IndexByte(" \t\r\n;", c) >= 0 || c == '{' && !strings.HasSuffix(s[:i], "$")) {
			break
		}
		if c == '\\' && i+1 < len(s) && strings.IndexByte(`"'\`, s[i+1]) >= 0 {
			i++
			c = s[i]
		} else if c == '\\' && i+1 < len(s) && quote == 0 {
			word.WriteByte(c)
			i++
			c = s[i]
		}
		word.WriteByte(c)
	}
	t.skip(i)
	return word.String()
}

func (t *nginxTokens) skip(n int) {
	t.line += strings.Count(t.rest[:n], "\n")
	t.rest = t.rest[n:]
}
