package federation

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// serve serves a request with a handler. mayHavePage is the answer of the callback.
func serve(mayHavePage bool, handler func(w http.ResponseWriter, r *http.Request) error) (w *httptest.ResponseRecorder, refused bool, asked int, err error) {
	w = httptest.NewRecorder()
	w.Header().Set("Server", "Caddy")
	refused, err = serveDocument(w, httptest.NewRequest(http.MethodGet, "/", nil), caddyhttp.HandlerFunc(handler), func() bool { asked++; return !mayHavePage })
	return w, refused, asked, err
}

func write(media string, status int, body string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", media)
		w.Header().Set("Etag", `"1"`)
		w.WriteHeader(status)
		_, err := io.WriteString(w, body)
		return err
	}
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name          string
		handler       func(http.ResponseWriter, *http.Request) error
		refused, sent bool
	}{
		{"a document", write("application/activity+json; charset=utf-8", 200, "x"), false, true},
		{"linked data", write(`APPLICATION/ld+json;profile="x"`, 200, "x"), false, true},
		{"a document with an error", write("application/activity+json", 404, "x"), false, true},
		{"a page", write("text/html", 200, "x"), true, false},
		{"a media type that begins so", write("application/activity+jsonp", 200, "x"), true, false},
		{"a page with an error", write("text/html", 500, "x"), true, false},
		{"nothing", func(http.ResponseWriter, *http.Request) error { return nil }, true, false},
		{"a flush", func(w http.ResponseWriter, _ *http.Request) error {
			if http.NewResponseController(w).Flush() == nil {
				t.Error("the header is sent")
			}
			return nil
		}, true, false},
		{"an upgrade", func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusSwitchingProtocols)
			if _, _, err := http.NewResponseController(w).Hijack(); err == nil {
				t.Error("the connection is taken over")
			}
			return nil
		}, true, false},
		{"a hijack", func(w http.ResponseWriter, _ *http.Request) error {
			if _, _, err := http.NewResponseController(w).Hijack(); err == nil {
				t.Error("the connection is taken over")
			}
			return nil
		}, true, false},
		{"an early hint", func(w http.ResponseWriter, r *http.Request) error {
			w.WriteHeader(http.StatusEarlyHints)
			return write("text/html", 200, "x")(w, r)
		}, true, false},
		{"an aborted page", func(w http.ResponseWriter, r *http.Request) error {
			_ = write("text/html", 200, "x")(w, r)
			panic(http.ErrAbortHandler)
		}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, refused, asked, err := serve(false, tt.handler)
			if refused != tt.refused || (w.Body.String() == "x") != tt.sent || err != nil || (asked == 1) != tt.refused {
				t.Errorf("refused %v, body %q, asked %d times, %v", refused, w.Body, asked, err)
			}
			if header := w.Header(); tt.refused && (len(header) != 1 || header.Get("Server") == "") {
				t.Errorf("the header is %v", header)
			}
			if tt.refused {
				if w, refused, _, _ := serve(true, func(w http.ResponseWriter, r *http.Request) error { return write("text/html", 200, "y")(w, r) }); refused || w.Body.String() != "y" {
					t.Errorf("a page that the client may have: refused %v, %q", refused, w.Body)
				}
			}
		})
	}
}

func TestErrorsAndPanicsPass(t *testing.T) {
	failed := errors.New("failed")
	if _, refused, asked, err := serve(false, func(http.ResponseWriter, *http.Request) error { return failed }); refused || asked > 0 || err != failed {
		t.Errorf("refused %v, asked %d times, %v", refused, asked, err)
	}
	for name, handler := range map[string]func(http.ResponseWriter, *http.Request) error{
		"of a document": func(w http.ResponseWriter, r *http.Request) error {
			_ = write("application/activity+json", 200, "x")(w, r)
			panic(http.ErrAbortHandler)
		},
		"of another kind": func(w http.ResponseWriter, r *http.Request) error {
			_ = write("text/html", 200, "x")(w, r)
			panic(failed)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a panic %s is lost", name)
				}
			}()
			_, _, _, _ = serve(false, handler)
		}()
	}
}

// A page without end is cut, whether its handler writes or waits.
func TestPageWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, handler := range map[string]func(http.ResponseWriter, *http.Request) error{
			"written": func(w http.ResponseWriter, r *http.Request) error {
				for write("text/html", 200, "x")(w, r) == nil {
					time.Sleep(patience / 10) // in a synctest bubble
				}
				return nil
			},
			"silent": func(w http.ResponseWriter, r *http.Request) error {
				_ = write("text/html", 200, "x")(w, r)
				<-r.Context().Done()
				return r.Context().Err()
			},
		} {
			if w, refused, _, err := serve(false, handler); !refused || err != nil || w.Body.Len() > 0 {
				t.Errorf("%s: refused %v, %v, %q", name, refused, err, w.Body)
			}
		}
	})
}

// Requests without a signature allocate nothing.
func TestAsksAllocatesNothing(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Accept", "text/html")
	if n := testing.AllocsPerRun(100, func() { asks(r) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
