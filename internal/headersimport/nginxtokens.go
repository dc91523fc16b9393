package headersimport

import "strings"

// Kinds of tokens, besides the characters {, } and ;.
const (
	nginxEnd  byte = 0
	nginxWord byte = 'w'
)

// nginxTokens iterates over the tokens of an nginx configuration.
type nginxTokens struct {
	rest string
	line int // line number at the start of rest
	at   int // line number of the last token
}

func (t *nginxTokens) next() (word string, kind byte) {
	for {
		t.skip(len(t.rest) - len(strings.TrimLeft(t.rest, " \t\r\n")))
		if !strings.HasPrefix(t.rest, "#") {
			break
		}
		comment, _, _ := strings.Cut(t.rest, "\n")
		t.skip(len(comment))
	}
	t.at = t.line
	if t.rest == "" {
		return "", nginxEnd
	}
	if c := t.rest[0]; c == '{' || c == '}' || c == ';' {
		t.skip(1)
		return "", c
	}
	return t.word(), nginxWord
}

// word reads a word, with or without quotes. A brace after a $ is a part of the
// word.
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

// block skips the rest of a block up to its closing brace, and returns the
// text.
func (t *nginxTokens) block() string {
	depth, i := 1, 0
	for ; i < len(t.rest) && depth > 0; i++ {
		switch t.rest[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
	}
	text := t.rest[:i]
	t.skip(i)
	return text
}
