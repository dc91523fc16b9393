package document

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const address = "https://operator.test/number"

// fixture is a server with a document that has a number, a storage, and a Source
// that parses the number.
type fixture struct {
	*Reader
	Source[int]

	mu      sync.Mutex
	body    string
	header  http.Header
	status  int
	reads   []*http.Request
	values  map[string][]byte // in the storage
	stores  int
	hang    bool // the storage does not answer
	broken  bool // the storage answers with errors
	parses  int
	results []error // that Run reported
	changes int
}

func newFixture(body string, header ...string) *fixture {
	f := &fixture{body: body, header: make(http.Header), status: 200, values: make(map[string][]byte)}
	for i := 0; i < len(header); i += 2 {
		f.header.Set(header[i], header[i+1])
	}
	f.start()
	return f
}

// start makes a new Reader and a new Source, as after a restart.
func (f *fixture) start() {
	f.Reader = NewReader(Config{Client: &http.Client{Transport: f}, Storage: f, Folder: "numbers"})
	f.Source.URL, f.restored = address, false
	f.current.Store(nil)
	f.unstored.Store(nil)
	f.Parse = func(r *Response, _ *Copy[int], _ time.Time) (int, error) {
		f.parses++
		return strconv.Atoi(string(r.Body))
	}
}

func (f *fixture) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads = append(f.reads, r)
	if f.status == 0 {
		return nil, errors.New("no route to host")
	}
	res := &http.Response{StatusCode: f.status, Header: f.header, Body: io.NopCloser(strings.NewReader(f.body)), ContentLength: -1, Request: r}
	if tag := f.header.Get("ETag"); tag != "" && r.Header.Get("If-None-Match") == tag {
		res.StatusCode, res.Body = 304, http.NoBody
	}
	return res, nil
}

func (f *fixture) Load(ctx context.Context, key string) ([]byte, error) {
	return f.access(ctx, key, nil)
}

func (f *fixture) Store(ctx context.Context, key string, value []byte) error {
	_, err := f.access(ctx, key, value)
	return err
}

func (f *fixture) access(ctx context.Context, key string, value []byte) ([]byte, error) {
	if f.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if f.broken {
		return nil, errors.New("input/output error")
	}
	if value != nil {
		f.stores++
		f.values[key] = value
	}
	if value = f.values[key]; value == nil {
		return nil, fs.ErrNotExist
	}
	return value, nil
}

// run runs the Source for a time.
func (f *fixture) run(d time.Duration) {
	ctx, stop := context.WithTimeout(context.Background(), d)
	defer stop()
	f.Run(ctx, f.Reader, func(changed bool, err error) {
		f.results = append(f.results, err)
		if changed {
			f.changes++
		}
	})
}

func TestConditionalReads(t *testing.T) {
	for _, field := range []string{"ETag", "Last-Modified"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture("7", field, `"a"`)
			f.run(5*24*time.Hour + time.Minute)
			if n := len(f.reads); n < 20 || n > 23 || f.Copy().Value != 7 || f.changes != 1 || f.parses != 1 {
				t.Errorf("%d reads in 5 days, want one every 5.5 to 6 hours; %d changes, %d parsed", n, f.changes, f.parses)
			}
			conditional := map[string]string{"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}[field]
			for i, r := range f.reads {
				if got := r.Header.Get(conditional); (got == `"a"`) != (i > 0) {
					t.Errorf("read %d: %s: %q", i, conditional, got)
				}
			}
			if age := time.Since(f.Copy().Read()); age > RefreshInterval {
				t.Errorf("the copy is %v old", age)
			}
		})
	}
}

// A server without validators sends the document each time. Equal content is not
// parsed again and not stored again, except for a Source with ParseAlways.
func TestEqualContentChangesNothing(t *testing.T) {
	for _, always := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture("7")
			f.ParseAlways = always
			f.run(RefreshInterval + time.Minute)
			if len(f.reads) < 2 || f.changes != 1 || (f.parses == 1) == always || f.stores != len(f.reads)+1 {
				t.Errorf("always %v: %d reads, %d changes, %d parsed, %d stored", always, len(f.reads), f.changes, f.parses, f.stores)
			}
			f.body = "8"
			f.run(RefreshInterval + time.Minute)
			if f.changes != 2 || f.Copy().Value != 8 {
				t.Errorf("another document: %d changes, %d", f.changes, f.Copy().Value)
			}
		})
	}
}

func TestFailedReadChangesNothing(t *testing.T) {
	for name, fail := range map[string]func(*fixture){
		"no network":                   func(f *fixture) { f.status = 0 },
		"an error":                     func(f *fixture) { f.status = 500 },
		"another document":             func(f *fixture) { f.body = "<html>" },
		"a redirect to another host":   func(f *fixture) { f.status = 302; f.header.Set("Location", "https://other.test/") },
		"a redirect to itself":         func(f *fixture) { f.status = 302; f.header.Set("Location", address) },
		"a document that is too large": func(f *fixture) { f.body = strings.Repeat("0", MaxSize) + "7" },
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture("7")
			f.run(time.Minute)
			fail(f)
			f.run(RefreshInterval + time.Hour)
			if n := len(f.results); n < 5 || n > 10 || f.results[n-1] == nil || f.Failures() != n-1 {
				t.Errorf("%s: %d reads, %d failures, the last one: %v; want retries after 1, 2, 4 … minutes", name, n, f.Failures(), f.results[n-1])
			}
			if f.Copy().Value != 7 || time.Since(f.Copy().Read()) < RefreshInterval {
				t.Errorf("%s: %d, read at %v", name, f.Copy().Value, f.Copy().Read())
			}
		})
	}
}

// A first read that fails, as before the network is up, is soon tried again.
func TestFirstReadFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture("7")
		f.status = 0
		f.run(3 * time.Second)
		if n := len(f.results); n != 3 || f.Failures() != n {
			t.Errorf("%d reads, %d failures, want retries after 1 and 2 seconds", n, f.Failures())
		}
		f.status = 200
		f.run(4 * time.Second)
		if f.Copy() == nil || f.Copy().Value != 7 {
			t.Errorf("%+v after the network is up", f.Copy())
		}
	})
}

func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture("7", "ETag", `"a"`)
		f.run(time.Minute)
		read := f.Copy().Read()
		time.Sleep(time.Hour)
		f.status = 0
		f.start()
		if !f.Restore(context.Background(), f.Reader) || f.Copy().Value != 7 || !f.Copy().Read().Equal(read) {
			t.Errorf("after a restart: %+v, want the stored copy", f.Copy())
		}
		n := len(f.reads)
		if f.run(4 * time.Hour); len(f.reads) != n {
			t.Error("the copy was read again before it was 5.5 hours old")
		}
		f.status = 200
		f.run(2 * time.Hour)
		if got := f.reads[len(f.reads)-1].Header.Get("If-None-Match"); got != `"a"` || f.changes != 1 {
			t.Errorf("the read after a restart is not conditional: %q, or the document changed: %d", got, f.changes)
		}
	})
}

func TestDamagedCopies(t *testing.T) {
	for name, damage := range map[string]func(f *fixture){
		"no document":            func(f *fixture) { delete(f.values, f.key(address, ".txt")) },
		"another document":       func(f *fixture) { f.values[f.key(address, ".txt")] = []byte("8") },
		"invalid JSON":           func(f *fixture) { f.values[f.key(address, ".json")] = []byte("{") },
		"a copy of another list": func(f *fixture) { f.values[f.key(address, ".json")] = []byte(`{"url":"https://other.test/"}`) },
		"a document that Parse no longer accepts": func(f *fixture) {
			f.Parse = func(*Response, *Copy[int], time.Time) (int, error) { return 0, errors.New("the format changed") }
		},
		"a storage that does not answer": func(f *fixture) { f.hang = true },
		"a storage that fails":           func(f *fixture) { f.broken = true },
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture("7")
			f.run(time.Second)
			f.start()
			damage(f)
			if f.Restore(context.Background(), f.Reader) || f.Copy() != nil || f.StorageError() == nil {
				t.Errorf("%s: %+v, %v", name, f.Copy(), f.StorageError())
			}
			if got, err := f.Fetch(context.Background(), f.Reader); strings.HasPrefix(name, "a document") != (got == nil) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		})
	}
}

// A copy that can't be stored is an error until it is stored, which is soon tried again,
// also if the document is the same.
func TestAStorageThatFailsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture("7", "ETag", `"x"`)
		f.broken = true
		f.run(time.Hour)
		if f.StorageError() == nil || len(f.values) != 0 || f.Copy() == nil {
			t.Errorf("%v, %d values, %+v", f.StorageError(), len(f.values), f.Copy())
		}
		f.broken = false
		f.run(storeRetry)
		if f.StorageError() != nil {
			t.Error(f.StorageError())
		}
		f.start()
		if !f.Restore(t.Context(), f.Reader) {
			t.Error("no copy was stored")
		}
	})
}

// A document that is too large is an error, with and without Content-Length.
func TestTooLargeDocument(t *testing.T) {
	for _, length := range []bool{true, false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if length {
				w.Header().Set("Content-Length", "50000000")
			}
			line := make([]byte, 12_500)
			for n := 0; n < 50_000_000; n += len(line) {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		}))
		r := NewReader(Config{})
		if _, err := get(context.Background(), &r.client, server.URL, "", description{}); err != errTooLarge {
			t.Errorf("with Content-Length %v: %v, want %v", length, err, errTooLarge)
		}
		r.Close()
		server.Close()
	}
}

// A document that is compressed is read up to the same size.
func TestCompressedDocument(t *testing.T) {
	for coding, want := range map[string]error{"gzip": nil, "x-gzip": nil, "X-Gzip": nil, "x-gzip of too much": errTooLarge} {
		size := 1000
		if want != nil {
			size = MaxSize + 1
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", strings.Fields(coding)[0])
			zw := gzip.NewWriter(w)
			_, _ = zw.Write(make([]byte, size))
			_ = zw.Close()
		}))
		r := NewReader(Config{})
		if res, err := get(context.Background(), &r.client, server.URL, "", description{}); err != want || err == nil && len(res.Body) != size {
			t.Errorf("%s: %v, want %v", coding, err, want)
		}
		r.Close()
		server.Close()
	}
}

// ParseOpenURL accepts the same, but no user name.
func TestParseURL(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://operator.test/list.json": true, "http://127.0.0.1:8080/list": true, "http://[::1]/list": true, "http://[::1]:80/x": true,
		"http://localhost/x": true, "http://operator.test/list.json": false, "ftp://operator.test/": false, "/etc/passwd": false, "operator.test": false,
		"file:///etc/passwd": false, "https://": false, "http://127.0.0.1.operator.test/": false, "https://operator.test:x/": false, "https://a.test/#x": true,
		"https://user:secret@operator.test/": true,
	} {
		_, err := ParseURL(address)
		_, openErr := ParseOpenURL(address)
		if open := ok && !strings.Contains(address, "secret"); (err == nil) != ok || (openErr == nil) != open {
			t.Errorf("%q: %v, want accepted: %v; open: %v, want accepted: %v", address, err, ok, openErr, open)
		}
	}
}

// A redirect leads to the same scheme, host and port, but for www. before an https host.
func TestRedirects(t *testing.T) {
	for to, ok := range map[string]bool{
		"https://operator.test/new.json": true, "https://www.operator.test/list.json": true, "http://operator.test/list.json": false,
		"https://other.test/list.json": false, "https://operator.test:8443/list.json": false, "http://169.254.169.254/latest/": false,
	} {
		from, next := httptest.NewRequest("GET", "https://operator.test/list.json", nil), httptest.NewRequest("GET", to, nil)
		if err := checkRedirect(next, []*http.Request{from}); (err == nil) != ok {
			t.Errorf("%s: %v, want allowed: %v", to, err, ok)
		}
	}
}
