package logfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

// request returns a line of a log: a request in second n for /n.
func request(n int) string {
	return fmt.Sprintf("192.0.2.1 - - [07/Nov/2026:12:%02d:%02d +0000] \"GET /%d HTTP/1.1\" 200 5 \"-\" \"ExampleBot/1.0\"\n", n/60, n%60, n)
}

// requests returns the lines of several requests.
func requests(seconds ...int) string {
	var b strings.Builder
	for _, n := range seconds {
		b.WriteString(request(n))
	}
	return b.String()
}

// inMemory returns a file that counts how often it is open.
func inMemory(name, text string, open *int) File {
	return File{Name: name, Open: func() (io.ReadCloser, error) {
		*open++
		return &counted{strings.NewReader(text), open}, nil
	}}
}

// counted counts a file as closed.
type counted struct {
	io.Reader
	open *int
}

func (c *counted) Close() error { *c.open--; return nil }

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text) // into memory
	_ = z.Close()
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(z.EncodeAll([]byte(text), nil))
}

// targets reads a sequence to its end. It returns the targets of the requests, and the
// problems of other lines with their numbers.
func targets(t *testing.T, s *Sequence) (list []string) {
	t.Helper()
	for l, err := range s.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		if l.Problem == logformat.None {
			list = append(list, strings.Clone(l.Entry.Target))
		} else {
			list = append(list, fmt.Sprintf("%d: %s", l.Number, l.Problem))
		}
	}
	return list
}

// A log is read to its end, whatever its compression and the ends of its lines.
func TestRead(t *testing.T) {
	text := requests(1, 2, 3)
	all := []string{"/1", "/2", "/3"}
	for name, test := range map[string]struct {
		text, compression string
		want              []string
		cut               bool
	}{
		"plain":            {text: text, want: all},
		"without last LF":  {text: strings.TrimSuffix(text, "\n"), want: all},
		"CRLF":             {text: strings.ReplaceAll(text, "\n", "\r\n"), want: all},
		"empty":            {text: ""},
		"empty line":       {text: "\n" + text, want: append([]string{"1: is not of a request"}, all...)},
		"gzip":             {text: gzipped(text), compression: "gzip", want: all},
		"two gzip members": {text: gzipped(text) + gzipped(request(4)), compression: "gzip", want: append(slices.Clone(all), "/4")},
		"zstd":             {text: zstandard(t, text), compression: "zstd", want: all},
		"cut gzip":         {text: gzipped(text)[:len(gzipped(text))-4], compression: "gzip", want: all, cut: true},
	} {
		open := 0
		file := inMemory("access.log", test.text, &open)
		s, err := NewSequence([]File{file}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := targets(t, s)
		s.Close()
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if l := s.Logs[0]; l.Compression != test.compression || (l.Cut != nil) != test.cut {
			t.Errorf("%s: compression %q, cut %v", name, l.Compression, l.Cut)
		}
		if open != 0 {
			t.Errorf("%s: open %d times", name, open)
		}
	}
}

// Lines of up to 1 MiB are read, also when they are longer than the buffer. Longer
// lines are skipped.
func TestLongLines(t *testing.T) {
	size := len(request(1)) - 1 // without the LF
	long := func(octets int) string {
		return strings.Replace(request(1), "/1 ", "/1"+strings.Repeat("a", octets-size)+" ", 1)
	}
	for octets, want := range map[int]string{
		lineBuffer - 1: "", lineBuffer: "", lineBuffer + 1: "", 2 * lineBuffer: "", maxLine: "", maxLine + 1: "longer than 1 MiB", 5 * maxLine: "longer than 1 MiB",
	} {
		for _, end := range []string{"\n", "\r\n", ""} {
			open := 0
			text := request(0) + strings.TrimSuffix(long(octets), "\n") + end
			if end != "" {
				text += request(2)
			}
			s, err := NewSequence([]File{inMemory("access.log", text, &open)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for l, err := range s.Lines() {
				if err != nil {
					t.Fatal(err)
				}
				if got = append(got, string(l.Problem)); l.Problem == logformat.None && l.Number == 2 && len(l.Line) != octets {
					t.Errorf("%d octets, end %q: the line has %d", octets, end, len(l.Line))
				}
			}
			if all := []string{"", want, ""}; !slices.Equal(got, all[:2+min(len(end), 1)]) {
				t.Errorf("%d octets, end %q: %q, want %q", octets, end, got, want)
			}
		}
	}
}

// Several logs are merged in order of time, whatever their order. A file that can be
// read only once, and lines without a time, do not stop the others.
func TestSequence(t *testing.T) {
	for name, test := range map[string]struct{ logs, want []string }{
		"in order":     {[]string{requests(1, 2), requests(3, 4)}, []string{"/1", "/2", "/3", "/4"}},
		"reverse":      {[]string{requests(3, 4), requests(1, 2)}, []string{"/1", "/2", "/3", "/4"}},
		"interleaved":  {[]string{requests(1, 3, 5), requests(2, 4), requests(3, 6)}, []string{"/1", "/2", "/3", "/3", "/4", "/5", "/6"}},
		"compressed":   {[]string{requests(2), gzipped(requests(1, 3))}, []string{"/1", "/2", "/3"}},
		"no time":      {[]string{requests(1, 3), requests(2) + "damaged\n" + requests(4)}, []string{"/1", "/2", "2: ends too early", "/3", "/4"}},
		"with nothing": {[]string{"", requests(1)}, []string{"/1"}},
	} {
		var files []File
		open := 0
		for i, text := range test.logs {
			files = append(files, inMemory(fmt.Sprintf("%d.log", i), text, &open))
		}
		s, err := NewSequence(files, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if open != 0 {
			t.Errorf("%s: %d logs stay open before they are read", name, open)
		}
		if got := targets(t, s); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if s.Close(); open != 0 {
			t.Errorf("%s: %d logs are open at the end", name, open)
		}
		for i, l := range s.Logs {
			if l.Index != i {
				t.Errorf("%s: log %d has the index %d", name, i, l.Index)
			}
		}
	}
}

// A file that can be read only once is opened once.
func TestOnce(t *testing.T) {
	open, opened := 0, 0
	once := inMemory("-", requests(2, 3), &open)
	once.Once = true
	first := once.Open
	once.Open = func() (io.ReadCloser, error) { opened++; return first() }
	s, err := NewSequence([]File{inMemory("a.log", requests(1, 4), &open), once}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := targets(t, s); len(got) != 4 || opened != 1 {
		t.Errorf("%q, opened %d times", got, opened)
	}
}

// A file that cannot be read, or is not a log with User-Agents, is an error that names
// the file. The other files are closed.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		file File
		want string
	}{
		"no client": {file: inMemory("x.log", `300.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-"`+"\n", new(int)),
			want: "x.log has no known format: write Caddy's, combined or nginx's JSON. Its first line has no client where the log has it"},
		"no log":     {file: inMemory("x.log", "a b c\n", new(int)), want: "x.log has no known format: write Caddy's"},
		"bad gzip":   {file: inMemory("x.log", "\x1f\x8b\x00", new(int)), want: "x.log: "},
		"not opened": {file: File{Name: "x.log", Open: func() (io.ReadCloser, error) { return nil, broken }}, want: "broken"},
		"not read":   {file: File{Name: "x.log", Open: func() (io.ReadCloser, error) { return io.NopCloser(failing{broken}), nil }}, want: "x.log: broken"},
	} {
		open := 0
		_, err := NewSequence([]File{inMemory("good.log", request(1), &open), test.file}, nil)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if open != 0 {
			t.Errorf("%s: the other log is still open", name)
		}
	}
}

// failing is a reader with an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// endless is a file of one octet, many times, and then a text.
type endless struct {
	octet byte
	left  int
	text  string
}

func (e *endless) Read(p []byte) (n int, err error) {
	if e.left == 0 && e.text == "" {
		return 0, io.EOF
	}
	for n = 0; n < len(p) && e.left > 0; n++ {
		p[n], e.left = e.octet, e.left-1
	}
	written := copy(p[n:], e.text)
	e.text = e.text[written:]
	return n + written, nil
}

// A file without a line end, and one that was truncated while a program wrote to
// it, take no more memory than another log.
func TestMemoryOfEndlessLines(t *testing.T) {
	for name, tt := range map[string]struct {
		octet byte
		text  string
		want  []string
	}{
		"no line end":                {octet: 'a', want: []string{"1: longer than 1 MiB"}},
		"NUL octets":                 {octet: 0},
		"NUL octets before requests": {octet: 0, text: requests(1, 2), want: []string{"/1", "/2"}},
		"a long line first":          {octet: 'a', text: "\n" + requests(1, 2), want: []string{"1: longer than 1 MiB", "/1", "/2"}},
	} {
		t.Run(name, func(t *testing.T) {
			open := func() (io.ReadCloser, error) { return io.NopCloser(&endless{tt.octet, 200 << 20, tt.text}), nil }
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, err := NewSequence([]File{{Name: "access.log", Open: open}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := targets(t, s); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 20<<20 {
				t.Errorf("%d octets were allocated", n)
			}
		})
	}
}
