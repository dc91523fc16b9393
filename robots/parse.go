package robots

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unsafe"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// MaxSize is the default limit for the size of a file, in octets: the parser
// ignores the rest. RFC 9309, section 2.5 requires crawlers to read at least
// this much. WithMaxSize sets another limit.
const MaxSize = 500 << 10

// Option is an option of Parse.
type Option func(*options)

type options struct {
	dialect Dialect
	maxSize int
}

// WithDialect sets the dialect of the file. The default is RFC9309.
func WithDialect(d Dialect) Option { return func(o *options) { o.dialect = d } }

// WithMaxSize makes the parser read only the first n octets of the file. It
// ignores a line that crosses the limit, since half a path would be a different
// rule. If n is 0 or less, the parser reads nothing; it reads at most 1 GiB.
func WithMaxSize(n int) Option { return func(o *options) { o.maxSize = min(max(n, 0), 1<<30) } }

// Parse parses a robots.txt file. It never fails: it ignores lines that it
// can't parse (RFC 9309, section 2.2: crawlers use the parseable lines). The
// File keeps no reference to data. Time and memory are proportional to the size
// of data.
func Parse(data []byte, opts ...Option) *File { return ParseText(string(data), opts...) }

// ParseText is Parse without a copy of the text: the File refers to it.
func ParseText(data string, opts ...Option) *File {
	o := options{maxSize: MaxSize}
	for _, opt := range opts {
		opt(&o)
	}
	f := &File{dialect: o.dialect}
	if len(data) > o.maxSize {
		f.truncated = true
		next := data[o.maxSize]
		data = data[:o.maxSize]
		if next != '\n' && next != '\r' {
			data = data[:strings.LastIndexAny(data, "\r\n")+1]
		}
	}
	f.read(data)
	return f
}

// read parses text in the file's dialect.
func (f *File) read(text string) {
	f.text, f.otherLines = text, new(otherLines)
	p := parser{file: f, agents: map[string]int32{}}
	lines := strings.Count(f.text, "\n") + strings.Count(f.text, "\r")
	p.rules = make([]ruleLine, 0, min(lines, len(f.text)/16)+1)
	for l := range rawLines(f.text) {
		l.split(f.dialect)
		p.line(l)
	}
	p.rules = slices.Clone(p.rules) // without the room for more
	p.finish()
	f.signals, f.usages = p.outside.signals, p.outside.usages
	if f.words == nil && f.licenses == nil && f.signals == nil && f.usages == nil {
		f.otherLines = &noOtherLines
	}
}

// parser collects the lines of a file in a few lists. Blocks and runs are
// ranges in these lists, each of which ends where the next one begins. A block
// is a group as it is written in the file: User-agent lines and the rules below
// them. A run is User-agent lines and the fields below them. A known field ends
// the User-agent lines of a run, but not those of a block: a Crawl-delay applies
// only to the crawlers directly above it.
type parser struct {
	file        *File
	agents      map[string]int32 // index in names, by the token in lower case
	names       []agent
	refs        []ref // one for each token on a User-agent line
	rules       []ruleLine
	fields      []field
	outside     limits  // any group
	blocks      []block // of refs, and of the rules below
	runs        []block // of refs, and of the fields below
	open        bool    // a User-agent line would belong to the last block
	inRun       bool    // a User-agent line would belong to the last run
	recordEnded bool    // a blank line ended the last record (Koster 1994)
}

// agent is a product token that a User-agent line names, or the first word of
// one. Agent 0 is `*`.
type agent struct {
	name  string // as first written
	line  int    // of the first User-agent line
	exact bool   // a line names this token itself, and not only one that starts with this word
}

// ref is a token on a User-agent line, and its first word if the token has
// several words (-1 if not). Both are indexes in parser.names.
type ref struct{ token, word int32 }

// block is where a range of refs begins, and the range of the rules or fields
// below them.
type block struct{ refs, items int }

const starAgent = 0

func (p *parser) line(l *Line) {
	switch l.Directive {
	case DirectiveNone:
		if p.file.dialect.firstMatch() && !strings.Contains(l.Raw, "#") { // a blank line
			p.open, p.inRun, p.recordEnded = false, false, true
		}
	case DirectiveUserAgent:
		p.userAgent(l)
	case DirectiveAllow, DirectiveDisallow:
		p.rule(l)
	case DirectiveSitemap, DirectiveHost: // they apply to no crawler
	case DirectiveLicense:
		if l.Value != "" {
			p.file.licenses = append(p.file.licenses, License{URL: l.Value, Line: l.Number})
		}
	default:
		p.field(l)
	}
}

func (p *parser) userAgent(l *Line) {
	p.recordEnded = false
	if !p.open {
		p.blocks = append(p.blocks, block{len(p.refs), len(p.rules)})
		p.open, p.inRun = true, false
	}
	if !p.inRun {
		p.runs = append(p.runs, block{len(p.refs), len(p.fields)})
		p.inRun = true
	}
	if p.file.dialect.lists() {
		for v := range strings.FieldsSeq(l.Value) {
			p.refer(v, l.Number)
		}
	} else {
		p.refer(l.Value, l.Number)
	}
}

// refer adds the token in a value of a User-agent line to refs.
func (p *parser) refer(value string, line int) {
	google := p.file.dialect == Google
	token := googleToken(value)
	if !google {
		token = ProductToken(value)
	}
	if token == "" {
		return
	}
	r := ref{token: p.agent(token, line, true), word: -1}
	if word := canonical.FirstWord(token); !google && word != "" && len(word) < len(token) {
		r.word = p.agent(word, line, false)
	}
	p.refs = append(p.refs, r)
}

func (p *parser) agent(token string, line int, exact bool) int32 {
	if len(p.names) == 0 {
		p.names = append(p.names, agent{name: "*"})
	}
	id := int32(starAgent)
	if token != "*" {
		key := canonical.Lower(token)
		var ok bool
		if id, ok = p.agents[key]; !ok {
			id = int32(len(p.names))
			p.agents[key] = id
			p.names = append(p.names, agent{name: token, line: line})
		}
	}
	if a := &p.names[id]; exact && !a.exact {
		a.exact, a.name, a.line = true, token, line
	}
	return id
}

func (p *parser) rule(l *Line) {
	if len(p.blocks) == 0 || p.recordEnded {
		return // RFC 9309, section 2.2.2: a rule above all User-agent lines has no effect
	}
	p.open, p.inRun = false, false
	var flags uint32
	if l.Directive == DirectiveAllow {
		flags = allowLine
	}
	at := l.Offset + l.ValueCol
	if p.file.dialect.lists() {
		for v := range strings.FieldsSeq(l.Value) {
			at += strings.Index(p.file.text[at:], v)
			p.rules = append(p.rules, newRuleLine(at, v, l.Number, flags))
			at += len(v)
		}
	} else if l.Value != "" {
		p.rules = append(p.rules, newRuleLine(at, l.Value, l.Number, flags))
	}
}

func (p *parser) field(l *Line) {
	fd := field{l.Directive, l.Value, l.Number, l.Offset + l.ValueCol}
	if len(p.runs) == 0 || p.recordEnded {
		p.outside.add(&fd)
		return
	}
	if l.Directive != DirectiveUnknown {
		p.inRun = false
		p.fields = append(p.fields, fd)
	}
}

// documentTags start an HTML document. partTags start a part of one, such as the
// warnings of a PHP script.
var (
	documentTags = []string{"<!doctype", "<html", "<head", "<body", "<title", "<meta"}
	partTags     = []string{
		"<script", "<div", "<h1", "<center", "<br", "<p", "<a ", "<b>", "<font", "<iframe", "<img", "<link", "<span", "<style", "<svg", "<table",
	}
)

// LooksLikeHTML reports whether data starts like an HTML page. Sites without a
// robots.txt often send such a page instead of a 404. Data that starts with a part
// of a page, and has a User-agent line, is a robots.txt: a script that writes the
// file may write warnings before it.
func LooksLikeHTML(data []byte) bool {
	start := bytes.TrimLeft(bytes.TrimPrefix(data[:min(len(data), 1024)], []byte(canonical.ByteOrderMark)), " \t\r\n\f\v")
	if len(start) == 0 || start[0] != '<' {
		return false
	}
	s := strings.ToLower(string(start))
	for strings.HasPrefix(s, "<!--") || strings.HasPrefix(s, "<?xml") {
		i := strings.IndexByte(s, '>')
		if i < 0 {
			return true
		}
		s = strings.TrimLeft(s[i+1:], " \t\r\n\f\v")
	}
	return hasAnyPrefix(s, documentTags) || hasAnyPrefix(s, partTags) && !userAgentLine.Match(data)
}

// The errors of CheckText.
var (
	errHTML   = errors.New("it is a web page")
	errUTF16  = errors.New("it is in UTF-16: save it as UTF-8")
	errBinary = errors.New("it is not text")
	errOther  = errors.New("it has text, but no line of a robots.txt")
)

// CheckText returns an error if data is not a robots.txt, but an HTML page or
// another text, such as an error message, JSON or a file in UTF-16: a text without
// a line whose key this package knows. Host, Comment, and License without a URL are
// no such keys, since YAML and other texts have them. A text with nothing but
// comments is an empty robots.txt.
func CheckText(data []byte) error {
	switch {
	case LooksLikeHTML(data):
		return errHTML
	case hasFields(data):
		return nil
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return errUTF16
	case bytes.IndexByte(data, 0) >= 0:
		return errBinary
	}
	return errOther
}

// hasFields reports whether data has a line of a robots.txt, or no text.
func hasFields(data []byte) bool {
	data = data[:min(len(data), MaxSize)]
	empty := true
	for l := range rawLines(unsafe.String(unsafe.SliceData(data), len(data))) {
		switch l.split(RFC9309); l.Directive {
		case DirectiveNone:
			continue
		case DirectiveLicense:
			if strings.Contains(l.Value, "://") {
				return true
			}
		case DirectiveUnknown, DirectiveHost, DirectiveComment:
		default:
			return true
		}
		empty = false
	}
	return empty
}

func hasAnyPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

var userAgentLine = regexp.MustCompile(`(?i)(?:^|[\r\n])[ \t]*user-agent[ \t]*:`)

// ProductToken returns the product token in the value of a User-agent line. It
// removes a version (`BLEXBot/1.0`), a comment (`WebZIP (spidersoft)`) and a
// `*` at the end. RFC 9309, section 2.2.1 allows only letters, `_` and `-` in a
// token. ProductToken also accepts digits, dots and blanks, since the tokens of
// real crawlers have them (MJ12bot, archive.org_bot, Sogou web spider). It
// returns "*" for the value `*`, with or without more words after it, and ""
// for a value without a token, such as a URL.
func ProductToken(value string) string {
	value = strings.TrimSpace(value)
	if value == "*" || len(value) > 1 && value[0] == '*' && isBlank(value[1]) {
		return "*"
	}
	end := 0
	for end < len(value) && isTokenOctet(value[end]) {
		end++
	}
	if strings.HasPrefix(value[end:], "//") && strings.HasSuffix(value[:end], ":") {
		return ""
	}
	token := strings.TrimRight(value[:end], " -,;:.")
	if len(token) > maxToken {
		return ""
	}
	return token
}

// isTokenOctet reports whether a product token may contain the octet. It
// excludes octets that start a version, a comment, an address or a pattern.
func isTokenOctet(c byte) bool {
	return c >= ' ' && c != 0x7f && strings.IndexByte(`/()[]<>{}*"\,;?=$^|#+`, c) < 0
}
