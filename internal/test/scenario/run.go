package scenario

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// patience bounds how long a line that begins with "eventually" is tried.
const patience = time.Minute

// whileWaiting passes on the clock between two tries of such a line.
const whileWaiting = 50 * time.Millisecond

// Options says how a scenario runs.
type Options struct {
	Record io.Writer // gets each request and its answer; may be nil
	Root   string    // {root}: the repository, whose pages have snippets
	URL    string    // {url}: where commands reach the site
	Held   string    // {held}: a back end that lets requests of open wait until their end
	// Unchecked runs what a program can: nothing is compared, and the scenario ends
	// at the first line that needs another clock or requests that last.
	Unchecked bool
}

// errUnable ends the run of a scenario on a program.
var errUnable = errors.New("not on a program")

// runner is the state of a run.
type runner struct {
	*Scenario
	Options
	server  Server
	dir     string
	vars    map[string]string // by name
	within  string            // the values of the innermost loop
	host    string
	client  string
	agent   string
	loaded  bool
	now     time.Duration      // since the start
	logged  int                // octets of the log before the start
	counted map[string]float64 // metrics at the start: those of a process are never reset
	open    map[string]func()
	env     []string // names that were set
	problem func(string)
}

// Run runs a scenario in a folder. It tells problem what is not as the scenario says, with
// the line's number.
func (s *Scenario) Run(server Server, dir string, o Options, problem func(string)) {
	r := &runner{Scenario: s, Options: o, server: server, dir: dir, problem: problem, vars: map[string]string{"dir": dir, "root": o.Root, "url": o.URL, "held": o.Held},
		host: "site.test", client: "192.0.2.1", agent: "chrome", open: make(map[string]func())}
	defer func() {
		for name := range r.open {
			_ = r.end(name)
		}
		for _, name := range r.env {
			_ = os.Unsetenv(name)
		}
	}()
	err := s.unpack(dir)
	if err == nil {
		err = r.block(s.lines)
	}
	if err != nil && !(o.Unchecked && errors.Is(err, errUnable)) {
		problem(err.Error())
	}
}

// block runs lines.
func (r *runner) block(lines []line) error {
	for len(lines) > 0 {
		head := lines[0]
		end := 1
		for end < len(lines) && (lines[end].text[0] == '|' || lines[end].text[0] == ':') {
			end++
		}
		more := lines[1:end]
		run := func() error { return r.line(head, more) }
		if opens(head.text) || end < len(lines) && lines[end].text == "{" {
			if !opens(head.text) {
				end++
			}
			begin := end
			for depth := 1; depth > 0; end++ {
				if end == len(lines) {
					return fmt.Errorf("line %d: no }", head.number)
				}
				if opens(lines[end].text) {
					depth++
				} else if lines[end].text == "}" {
					depth--
				}
			}
			body := lines[begin : end-1]
			run = func() error { return r.loop(head, more, body) }
		}
		if err := run(); err != nil {
			if errors.Is(err, errUnable) || strings.HasPrefix(err.Error(), "line ") {
				return err
			}
			return fmt.Errorf("line %d: %w", head.number, err)
		}
		lines = lines[end:]
	}
	return nil
}

// short shortens a text for a message.
func short(text string) string { return strconv.Quote(text[:min(len(text), 80)]) }

// opens reports whether a line begins a block.
func opens(text string) bool { return text == "{" || strings.HasSuffix(text, " {") }

// loop runs a block several times: "repeat N {", where {n} is 1 to N, "for NAME in
// VALUE… {", or "each NAME…" with a line ": VALUE…" for each time, and "{".
func (r *runner) loop(head line, rows, body []line) error {
	words, err := r.split(strings.TrimSuffix(head.text, "{"))
	if err != nil {
		return err
	}
	names, table := []string{"n"}, [][]string(nil)
	switch {
	case len(words) == 2 && words[0] == "repeat":
		n, err := strconv.Atoi(words[1])
		if err != nil {
			return err
		}
		for i := range n {
			table = append(table, []string{strconv.Itoa(i + 1)})
		}
	case len(words) > 3 && words[0] == "for" && words[2] == "in":
		names = words[1:2]
		for _, value := range words[3:] {
			table = append(table, []string{value})
		}
	case words[0] == "each":
		names = words[1:]
		for _, row := range rows {
			values, err := r.split(row.text[1:])
			if err != nil || len(values) != len(names) {
				return fmt.Errorf("line %d: want %d values (%v)", row.number, len(names), err)
			}
			table = append(table, values)
		}
	default:
		return errors.New("want repeat, for or each before {")
	}
	outer := maps.Clone(r.vars)
	for _, values := range table {
		for i, name := range names {
			r.vars[name] = values[i]
		}
		r.within = strings.Join(values, " ")
		if err := r.block(body); err != nil {
			return fmt.Errorf("%w (%s)", err, short(r.within))
		}
	}
	r.within = ""
	for _, name := range names {
		delete(r.vars, name)
		if value, had := outer[name]; had {
			r.vars[name] = value
		}
	}
	return nil
}

// repeated is a text that is repeated: {x*600}.
var repeated = regexp.MustCompile(`\{([^{}]+)\*(\d+)\}`)

// expand replaces the names of variables in braces, and {x*600} by 600 times x. Other
// braces stay.
func (r *runner) expand(text string) string {
	for name, value := range r.vars {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return repeated.ReplaceAllStringFunc(text, func(found string) string {
		parts := repeated.FindStringSubmatch(found)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
}

// line runs one line with its expectations.
func (r *runner) line(l line, expectations []line) error {
	text := l.text[:headOf(l.text)]
	parts := strings.Split(l.text[len(text):], " | ")
	_, wanted, _ := strings.Cut(parts[0], " -> ")
	wanted = strings.TrimSpace(r.expand(wanted))
	var wants []want
	for _, part := range parts[1:] {
		wants = append(wants, want{l.number, strings.TrimSpace(r.expand(part))})
	}
	for _, e := range expectations {
		for _, part := range strings.Split(e.text[1:], " | ") {
			wants = append(wants, want{e.number, strings.TrimSpace(r.expand(part))})
		}
	}
	words, err := r.split(text)
	if err != nil {
		return err
	}
	eventually := words[0] == "eventually"
	if eventually {
		words = words[1:]
	}
	times := 1
	if len(words) > 2 && words[1] == "times" {
		if times, err = strconv.Atoi(words[0]); err != nil {
			return err
		}
		words = words[2:]
	}
	if !r.loaded && words[0] != "restart" && words[0] != "reload" && !isSetting[words[0]] {
		if err := r.load("Caddyfile"); err != nil {
			return err
		}
	}
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		problems, err := r.try(words, times, wanted, wants)
		if err != nil || r.Unchecked {
			return err
		}
		if len(problems) == 0 {
			return nil
		}
		if !eventually || time.Now().After(end) {
			for _, p := range problems {
				r.problem(fmt.Sprintf("line %d (%s): %.200s: %s", l.number, short(r.within), strings.Join(words, " "), p))
			}
			return nil
		}
		if r.server.Pass(whileWaiting) { // what is due later must not wait for ever
			r.now += whileWaiting
		}
	}
}

// headOf returns the length of a line without what is wanted.
func headOf(text string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case i > 0 && text[i-1] != ' ':
		case text[i] == '"' || text[i] == '`':
			if quoted, err := strconv.QuotedPrefix(text[i:]); err == nil {
				i += len(quoted) - 1
			}
		case strings.HasPrefix(text[i:], "-> ") || strings.HasPrefix(text[i:], "| "):
			return i - 1
		}
	}
	return len(text)
}

// split splits a line into words. A word in double quotes or backquotes may have blanks, and
// so may what stands there for a variable; within double quotes, Go's escapes hold. What
// stands for a variable without quotes may be several words.
func (r *runner) split(text string) (words []string, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeft(text, " \t") {
		if text[0] == '"' || text[0] == '`' {
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil, fmt.Errorf("%w: %s", err, text)
			}
			word, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("%w: %s", err, quoted)
			}
			words, text = append(words, r.expand(word)), text[len(quoted):]
			continue
		}
		end := strings.IndexAny(text+" ", " \t")
		word := text[:end]
		text = text[end:]
		if expanded := r.expand(word); expanded != word {
			if strings.TrimSpace(expanded) == "" {
				continue
			}
			more, err := (&runner{}).split(expanded)
			if err != nil {
				return nil, err
			}
			words = append(words, more...)
			continue
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return nil, errors.New("nothing to do")
	}
	return words, nil
}
