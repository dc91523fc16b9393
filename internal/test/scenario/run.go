package scenario

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// patience bounds how long a line that begins with "eventually" is tried.
const patience = time.Minute

// Options says how a scenario runs.
type Options struct {
	Record io.Writer // gets each request and its answer; may be nil
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
	host    string
	client  string
	agent   string
	loaded  bool
	now     time.Duration // since the start
	open    map[string]func()
	problem func(string)
}

// Run runs a scenario in a folder. It tells problem what is not as the scenario says, with
// the line's number.
func (s *Scenario) Run(server Server, dir string, o Options, problem func(string)) {
	r := &runner{Scenario: s, Options: o, server: server, dir: dir, problem: problem, vars: make(map[string]string),
		host: "site.test", client: "192.0.2.1", agent: "chrome", open: make(map[string]func())}
	defer func() {
		for name := range r.open {
			_ = r.end(name)
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
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		end := i + 1
		if strings.HasSuffix(l.text, " {") {
			for depth := 1; depth > 0; end++ {
				if end == len(lines) {
					return fmt.Errorf("line %d: no }", l.number)
				}
				switch text := lines[end].text; {
				case strings.HasSuffix(text, " {"):
					depth++
				case text == "}":
					depth--
				}
			}
			if err := r.loop(l, lines[i+1:end-1]); err != nil {
				return err
			}
			i = end - 1
			continue
		}
		for end < len(lines) && strings.HasPrefix(lines[end].text, "|") {
			end++
		}
		if err := r.line(l, lines[i+1:end]); err != nil {
			if errors.Is(err, errUnable) {
				return err
			}
			return fmt.Errorf("line %d: %w", l.number, err)
		}
		i = end - 1
	}
	return nil
}

// loop runs "repeat N {", where {n} is 1 to N, or "for NAME in VALUE… {".
func (r *runner) loop(head line, body []line) error {
	words, err := split(r.expand(strings.TrimSuffix(head.text, "{")))
	if err != nil {
		return fmt.Errorf("line %d: %w", head.number, err)
	}
	name, values := "n", []string(nil)
	switch {
	case len(words) == 2 && words[0] == "repeat":
		n, err := strconv.Atoi(words[1])
		if err != nil {
			return fmt.Errorf("line %d: %w", head.number, err)
		}
		for i := range n {
			values = append(values, strconv.Itoa(i+1))
		}
	case len(words) > 3 && words[0] == "for" && words[2] == "in":
		name, values = words[1], words[3:]
	default:
		return fmt.Errorf("line %d: want: repeat N {, or: for NAME in VALUE… {", head.number)
	}
	outer, had := r.vars[name]
	for _, v := range values {
		r.vars[name] = v
		if err := r.block(body); err != nil {
			return fmt.Errorf("%w (%s = %s)", err, name, v)
		}
	}
	delete(r.vars, name)
	if had {
		r.vars[name] = outer
	}
	return nil
}

// expand replaces the names of variables in braces. Other braces stay.
func (r *runner) expand(text string) string {
	for name, value := range r.vars {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// line runs one line with its expectations.
func (r *runner) line(l line, expectations []line) error {
	parts := strings.Split(l.text, " | ")
	text, wanted, _ := strings.Cut(parts[0], " -> ")
	wanted = strings.TrimSpace(r.expand(wanted))
	var wants []want
	for _, part := range parts[1:] {
		wants = append(wants, want{l.number, strings.TrimSpace(r.expand(part))})
	}
	for _, e := range expectations {
		wants = append(wants, want{e.number, strings.TrimSpace(r.expand(e.text[1:]))})
	}
	words, err := split(r.expand(text))
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
		r.loaded = true
		if err := r.server.Load("Caddyfile"); err != nil {
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
				r.problem(fmt.Sprintf("line %d: %s: %s", l.number, strings.Join(words, " "), p))
			}
			return nil
		}
	}
}

// isSetting are the lines that need no server.
var isSetting = map[string]bool{
	"host": true, "from": true, "as": true, "set": true, "env": true, "copy": true, "write": true, "remove": true,
}

// try runs a line once.
func (r *runner) try(words []string, times int, wanted string, wants []want) ([]string, error) {
	arg := func() string { return strings.Join(words[1:], " ") }
	switch words[0] {
	case "host":
		r.host = arg()
	case "from":
		r.client = arg()
	case "as":
		r.agent = arg()
	case "set":
		if len(words) != 3 {
			return nil, errors.New("want: set NAME VALUE")
		}
		r.vars[words[1]] = words[2]
	case "copy":
		if len(words) != 3 {
			return nil, errors.New("want: copy FROM TO")
		}
		return nil, r.replace(words[1], words[2])
	case "remove":
		return nil, os.Remove(filepath.Join(r.dir, arg()))
	case "write":
		if len(words) != 3 {
			return nil, errors.New("want: write FILE TEXT")
		}
		return nil, r.write(words[1], []byte(words[2]))
	case "env":
		if len(words) != 3 {
			return nil, errors.New("want: env NAME VALUE")
		}
		return nil, os.Setenv(words[1], words[2])
	case "at", "pass":
		d, err := time.ParseDuration(arg())
		if err != nil {
			return nil, err
		}
		if words[0] == "at" {
			d -= r.now
		}
		if d < 0 {
			return nil, errors.New("time does not go back")
		}
		if d > 0 && !r.server.Pass(d) {
			return nil, errUnable
		}
		r.now += d
	case "restart", "reload":
		if words[0] == "restart" && r.loaded {
			if err := r.server.Stop(); err != nil {
				return nil, err
			}
		}
		r.loaded = true
		name := arg()
		if name == "" {
			name = "Caddyfile"
		}
		err := r.server.Load(name)
		if wanted != "error" {
			return nil, err
		}
		if err == nil {
			return []string{"loaded without an error"}, nil
		}
		return r.check(wants, &Answer{Body: err.Error()}), nil
	case "end":
		return nil, r.end(arg())
	case "open":
		if r.Unchecked {
			return nil, errUnable
		}
		return r.begin(words[1:], wanted, wants)
	case "log":
		return r.log(arg(), wanted, wants)
	case "metric":
		return r.metric(arg(), wanted)
	case "admin":
		if len(words) < 3 {
			return nil, errors.New("want: admin METHOD PATH [BODY]")
		}
		answer, err := r.server.Admin(words[1], words[2], strings.Join(words[3:], " "))
		if err != nil {
			return nil, err
		}
		return r.checkAll([]*Answer{answer}, wanted, wants), nil
	default:
		return r.requests(words, times, wanted, wants)
	}
	return nil, nil
}

// replace puts a copy of a file in the place of another, at once.
func (r *runner) replace(from, to string) error {
	text, err := os.ReadFile(filepath.Join(r.dir, from))
	if err != nil {
		return err
	}
	return r.write(to, text)
}

// write puts a text in the place of a file, at once.
func (r *runner) write(name string, text []byte) error {
	fresh := filepath.Join(r.dir, name+".new")
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, filepath.Join(r.dir, name))
}

// requests sends a request, several times if wanted.
func (r *runner) requests(words []string, times int, wanted string, wants []want) ([]string, error) {
	var answers []*Answer
	outer, had := r.vars["n"]
	for i := range times {
		if times > 1 {
			r.vars["n"] = strconv.Itoa(i + 1)
		}
		request, err := r.request(words)
		if err != nil {
			return nil, err
		}
		answer, err := r.server.Do(request)
		if err != nil {
			return nil, err
		}
		if r.Record != nil {
			answer.write(r.Record, request.String())
		}
		answers = append(answers, answer)
	}
	if times > 1 {
		delete(r.vars, "n")
		if had {
			r.vars["n"] = outer
		}
	}
	return r.checkAll(answers, wanted, wants), nil
}

// request returns the request of a line: METHOD TARGET [as AGENT] [from ADDRESS]
// [with "FIELD: VALUE"]… [body TEXT].
func (r *runner) request(words []string) (*Request, error) {
	if len(words) < 2 || len(words)%2 != 0 || strings.ToUpper(words[0]) != words[0] {
		return nil, fmt.Errorf("no such line: %s", strings.Join(words, " "))
	}
	q := &Request{Method: words[0], Scheme: "http", Host: r.host, Target: r.expand(words[1]), Client: r.client, Header: make(http.Header)}
	if scheme, rest, found := strings.Cut(q.Target, "://"); found && !strings.HasPrefix(scheme, "/") {
		q.Scheme = scheme
		slash := strings.IndexByte(rest+"/", '/')
		q.Host, q.Target = rest[:slash], rest[slash:]
		if q.Target == "" {
			q.Target = "/"
		}
	}
	agent := r.expand(r.agent)
	for i := 2; i < len(words); i += 2 {
		switch value := r.expand(words[i+1]); words[i] {
		case "as":
			agent = value
		case "from":
			q.Client = value
		case "body":
			q.Body = value
		case "with":
			name, text, _ := strings.Cut(value, ":")
			if http.CanonicalHeaderKey(name) == "Host" {
				q.Host = strings.TrimSpace(text)
				continue
			}
			q.Header.Add(name, strings.TrimSpace(text))
		default:
			return nil, fmt.Errorf("want as, from, with or body instead of %q", words[i])
		}
	}
	if known := fake.Agents[agent]; known != "" {
		agent = known
	}
	if agent != "-" {
		q.Header.Set("User-Agent", agent)
	}
	return q, nil
}

// begin sends a request that lasts until "end NAME".
func (r *runner) begin(words []string, wanted string, wants []want) ([]string, error) {
	request, err := r.request(words[1:])
	if err != nil {
		return nil, err
	}
	answer, end, err := r.server.Open(request)
	if err != nil {
		return nil, err
	}
	r.open[words[0]] = end
	if r.Record != nil {
		answer.write(r.Record, request.String())
	}
	return r.checkAll([]*Answer{answer}, wanted, wants), nil
}

// end lets a request end, and waits until it has.
func (r *runner) end(name string) error {
	end := r.open[name]
	if end == nil {
		return fmt.Errorf("no open request %q", name)
	}
	delete(r.open, name)
	end()
	return nil
}

// split splits a line into words. A word in double quotes or backquotes may have blanks;
// within double quotes, Go's escapes hold.
func split(text string) (words []string, err error) {
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
			words, text = append(words, word), text[len(quoted):]
			continue
		}
		end := strings.IndexAny(text+" ", " \t")
		words, text = append(words, text[:end]), text[end:]
	}
	if len(words) == 0 {
		return nil, errors.New("nothing to do")
	}
	return words, nil
}
