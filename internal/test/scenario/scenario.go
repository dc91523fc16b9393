// Package scenario is a language for tests: a Caddyfile, other files, and requests with
// their time that say what each gets. testdata/scenarios/README.md describes the language.
//
// A scenario runs on a [Server]: in process with a clock of its own, or a program.
package scenario

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// Scenario is a file of scenarios.
type Scenario struct {
	Name  string   // the file's, without folder and extension
	Needs []string // steps, or "commands", that the core alone lacks: the words of a line "needs"
	lines []line
	files map[string][]byte
}

// line is a line of the script.
type line struct {
	number int
	text   string
}

// Read reads a scenario.
func Read(path string) (*Scenario, error) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for _, f := range archive.Files {
		files[f.Name] = f.Data
	}
	return New(strings.TrimSuffix(filepath.Base(path), ".txtar"), strings.Split(string(archive.Comment), "\n"), files), nil
}

// New returns a scenario with the lines of its script and its files.
func New(name string, script []string, files map[string][]byte) *Scenario {
	s := &Scenario{Name: name, files: files}
	for i, text := range script {
		text = strings.TrimSpace(text)
		if needs, ok := strings.CutPrefix(text, "needs "); ok {
			s.Needs = strings.Fields(needs)
		} else if text != "" && text[0] != '#' {
			s.lines = append(s.lines, line{i + 1, text})
		}
	}
	return s
}

// Server is what a scenario runs on. Its working folder has the scenario's files.
type Server interface {
	// Load loads a configuration, the first one or another.
	Load(caddyfile string) error
	// Stop ends the server. Its files stay.
	Stop() error
	// Do sends a request.
	Do(*Request) (*Answer, error)
	// Open sends a request that is still being answered when it returns, at the first octet
	// of the body. The function ends it.
	Open(*Request) (*Answer, func(), error)
	// Admin sends a request to the admin API, with a header field unless that is "".
	Admin(method, target, body, header string) (*Answer, error)
	// Pass lets time pass. A program can't do so, and returns false.
	Pass(time.Duration) bool
	// Log returns what was logged since the start.
	Log() []byte
}

// Request is a request of a client.
type Request struct {
	Method, Scheme, Host, Target string
	Port                         string // where it is sent to
	Client                       string // address
	Header                       http.Header
	Body                         string
}

// String returns the request in one line.
func (r *Request) String() string {
	return fmt.Sprintf("%s %s://%s%s from %s, %s", r.Method, r.Scheme, r.Host, r.Target, r.Client, fields(r.Header))
}

// Octets returns the request as it is sent in HTTP/1.1.
func (r *Request) Octets() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Target, r.Host)
	if r.Body != "" {
		fmt.Fprintf(&text, "Content-Length: %d\r\n", len(r.Body))
	}
	_ = r.Header.Write(&text)
	text.WriteString("\r\n" + r.Body)
	return text.Bytes()
}

// Answer is what a client gets. A status of 0 is a connection that was closed without an
// answer.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// write writes a request and its answer in a form that can be compared.
func (a *Answer) write(w io.Writer, request string) {
	fmt.Fprintf(w, "%s\n%d\n", request, a.Status)
	header := a.Header.Clone()
	for _, name := range []string{"Date", "Content-Length", "Connection"} {
		header.Del(name)
	}
	_ = header.Write(w) // sorted
	fmt.Fprintf(w, "\n%s\n\n", strings.TrimSuffix(a.Body, "\n"))
}

// written is when a scenario's files were written.
var written = time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)

// unpack writes the files to the working folder.
func (s *Scenario) unpack(dir string) error {
	for name, data := range s.files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(path, written, written); err != nil { // entity tags depend on it
			return err
		}
	}
	return nil
}

func fields(h http.Header) string {
	var b strings.Builder
	_ = h.Write(&b)
	return strings.ReplaceAll(strings.TrimSpace(b.String()), "\r\n", ", ")
}
