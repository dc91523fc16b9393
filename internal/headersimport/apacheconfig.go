package headersimport

import "strings"

// apacheDirective is a directive or a section of an Apache configuration
// (httpd.apache.org/docs/2.4/configuring.html).
type apacheDirective struct {
	line    int
	name    string // in lower case
	title   string // as written
	args    []string
	section bool
	inner   []apacheDirective
}

// logicalLines iterates over the lines of an Apache configuration with their
// numbers. It joins a line that ends in a backslash with the next one, and
// returns the number of the first.
func logicalLines(config string) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		var joined strings.Builder
		number, start := 0, 0
		for line := range strings.Lines(config) {
			number++
			if start == 0 {
				start = number
			}
			line = strings.TrimRight(line, "\r\n")
			if rest, more := strings.CutSuffix(line, `\`); more {
				joined.WriteString(rest)
				continue
			}
			joined.WriteString(line)
			if !yield(start, joined.String()) {
				return
			}
			joined.Reset()
			start = 0
		}
		if start > 0 {
			yield(start, joined.String())
		}
	}
}

// parseApache parses a configuration. It returns the directives outside of all
// sections; the directives in a section are in its inner.
func parseApache(config string) (all []apacheDirective, problems []Problem) {
	problem := func(line int, text string) { problems = append(problems, Problem{line, text}) }
	open := []apacheDirective{{}}
	closeLast := func() {
		last := open[len(open)-1]
		open = open[:len(open)-1]
		open[len(open)-1].inner = append(open[len(open)-1].inner, last)
	}
	for line, text := range logicalLines(config) {
		text = strings.TrimSpace(text)
		switch {
		case text == "" || text[0] == '#':
		case strings.HasPrefix(text, "</"):
			name := strings.ToLower(strings.TrimSpace(strings.TrimSuffix(text[2:], ">")))
			if len(open) > 1 && open[len(open)-1].name == name {
				closeLast()
			} else {
				problem(line, "</"+clip(name)+"> has no matching <"+clip(name)+">")
			}
		case len(open) > 1 && endsSection(text, open[len(open)-1].title):
			problem(line, ownLine(open[len(open)-1].title))
			if text[0] != '<' {
				closeLast()
			}
		default:
			section := text[0] == '<'
			if section {
				title, alone := sectionTitle(text)
				if !alone {
					problem(line, ownLine(title))
				}
				if endsSection(text, title) {
					continue
				}
				if text = strings.TrimSuffix(text[1:], ">"); !alone {
					text = title // without arguments, the scope of the section is not known
				}
			}
			words := apacheWords(text)
			if len(words) == 0 {
				continue
			}
			d := apacheDirective{line: line, name: strings.ToLower(words[0]), title: words[0], args: words[1:], section: section}
			switch {
			case !section:
				last := &open[len(open)-1]
				last.inner = append(last.inner, d)
			case len(open) > maxDepth:
				problem(line, "sections are nested too deeply")
				return open[0].inner, problems
			default:
				open = append(open, d)
			}
		}
	}
	for len(open) > 1 {
		problem(open[len(open)-1].line, "<"+clip(open[len(open)-1].title)+"> is never closed")
		closeLast()
	}
	return open[0].inner, problems
}

// ownLine returns the problem of a section that has a tag on a line with other
// text.
func ownLine(title string) string {
	return "not converted: the tags <" + clip(title) + "> and </" + clip(title) + "> must be on lines of their own, as Apache requires"
}

// sectionTitle returns the title of the section that a line begins, and whether
// its tag is alone on the line.
func sectionTitle(text string) (title string, alone bool) {
	title = text[1:]
	if i := strings.IndexAny(title, " \t>"); i >= 0 {
		title = title[:i]
	}
	return title, (strings.HasSuffix(text, ">") || !strings.Contains(text, ">")) && !endsSection(text, title)
}

// endsSection reports whether a line ends with the end tag of a section, after
// other text.
func endsSection(text, title string) bool {
	tag := "</" + title + ">"
	return title != "" && len(text) > len(tag) && strings.EqualFold(text[len(text)-len(tag):], tag)
}

// apacheWords splits a line into words as Apache does: quotes enclose a word
// with blanks, and a backslash escapes a quote or another backslash.
func apacheWords(s string) []string {
	var words []string
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return words
		}
		quote := byte(0)
		if s[0] == '"' || s[0] == '\'' {
			quote, s = s[0], s[1:]
		}
		var word strings.Builder
		i := 0
		for ; i < len(s); i++ {
			if s[i] == quote || quote == 0 && (s[i] == ' ' || s[i] == '\t') {
				break
			}
			if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\\' || quote != 0 && s[i+1] == quote) {
				i++
			}
			word.WriteByte(s[i])
		}
		words = append(words, word.String())
		s = s[min(len(s), i+1):]
	}
}
