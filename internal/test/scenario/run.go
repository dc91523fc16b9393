package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/test/fake"
	"github.com/caddy-robots/caddy-robots/internal/test/pages"
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
	r := &runner{Scenario: s, Options: o, server: server, dir: dir, problem: problem, vars: map[string]string{"dir": dir, "root": o.Root, "url": o.URL},
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

// isSetting are the lines that need no server.
var isSetting = map[string]bool{
	"host": true, "from": true, "as": true, "set": true, "env": true, "copy": true, "write": true, "remove": true,
	"snippet": true,
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
	case "snippet":
		if len(words) < 4 || len(words)%2 != 0 {
			return nil, errors.New("want: snippet FILE PAGE TEXT [OLD NEW]…")
		}
		text, err := pages.Snippet(filepath.Join(r.Root, words[2]), words[3], words[4:]...)
		if err != nil {
			return nil, err
		}
		return nil, r.write(words[1], []byte(text))
	case "env":
		if len(words) != 3 {
			return nil, errors.New("want: env NAME VALUE")
		}
		r.env = append(r.env, words[1])
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
		if words[0] == "restart" {
			r.loaded = false
		}
		err := r.load(cmp.Or(arg(), "Caddyfile"))
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
	case "run":
		return r.command(arg(), wanted, wants)
	case "log":
		return r.log(arg(), wanted, wants)
	case "metric":
		return r.metric(arg(), wanted)
	case "check":
		return r.judged(words, wanted, wants)
	case "admin":
		if len(words) < 3 {
			return nil, errors.New("want: admin METHOD PATH [BODY]")
		}
		body, header := strings.Join(words[3:], " "), ""
		if len(words) == 5 && words[3] == "with" {
			body, header = "", words[4]
		}
		answer, err := r.server.Admin(words[1], words[2], body, header)
		if err != nil {
			return nil, err
		}
		return r.checkAll([]*Answer{answer}, wanted, wants), nil
	default:
		return r.requests(words, times, wanted, wants)
	}
	return nil, nil
}

// load loads a configuration. With the first one of a server, its counts begin.
func (r *runner) load(caddyfile string) error {
	fresh := !r.loaded
	r.loaded = true
	logged := len(r.server.Log())
	if err := r.server.Load(caddyfile); err != nil || !fresh || r.Unchecked {
		return err
	}
	r.logged, r.counted = logged, nil
	if slices.ContainsFunc(r.lines, func(l line) bool { return strings.HasPrefix(l.text, "metric ") }) {
		answer, err := r.server.Admin("GET", "/metrics", "", "")
		if err != nil {
			return err
		}
		r.counted = metrics(answer.Body)
	}
	return nil
}

// command runs a command of the shell in the folder of the scenario. What is wanted is its
// exit status, and expectations are about what it prints.
func (r *runner) command(text, wanted string, wants []want) ([]string, error) {
	if r.Unchecked {
		return nil, nil
	}
	cmd := exec.Command("bash", "-c", text)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "HOME="+r.dir, "XDG_DATA_HOME="+r.dir, "CADDY_ADMIN=unix/"+Socket(r.dir))
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return nil, err
	}
	return r.checkAll([]*Answer{{Status: cmd.ProcessState.ExitCode(), Body: string(out)}}, cmp.Or(wanted, "0"), wants), nil
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
		if r.Unchecked && answer.Header.Get("Retry-After") != "" {
			answer.Header.Set("Retry-After", "*") // it may depend on the time of the day
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
	if scheme, host, found := strings.Cut(r.host, "://"); found {
		q.Scheme, q.Host = scheme, host
	}
	if raw, found := strings.CutPrefix(q.Target, "="); found {
		q.Target = raw
	} else if scheme, rest, found := strings.Cut(q.Target, "://"); found && !strings.HasPrefix(scheme, "/") {
		q.Scheme = scheme
		slash := strings.IndexByte(rest+"/", '/')
		q.Host, q.Target = rest[:slash], rest[slash:]
		if q.Target == "" {
			q.Target = "/"
		}
	}
	q.Port = map[string]string{"http": "80", "https": "443"}[q.Scheme]
	if _, port, found := strings.Cut(q.Host, ":"); found {
		q.Port = port
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

// judged asks the admin API what a request would get: check TARGET [as AGENT] [from ADDRESS].
func (r *runner) judged(words []string, wanted string, wants []want) ([]string, error) {
	q, err := r.request(append([]string{"GET"}, words[1:]...))
	if err != nil {
		return nil, err
	}
	values := url.Values{"url": {q.Scheme + "://" + q.Host + q.Target}, "ua": q.Header["User-Agent"]}
	if q.Client != r.client {
		values.Set("client", q.Client)
	}
	answer, err := r.server.Admin("GET", "/robots/check?"+values.Encode(), "", "")
	if err != nil {
		return nil, err
	}
	return r.checkAll([]*Answer{answer}, cmp.Or(wanted, "200"), wants), nil
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
