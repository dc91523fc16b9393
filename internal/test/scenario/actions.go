package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/test/fake"
	"github.com/caddy-robots/caddy-robots/internal/test/pages"
)

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
