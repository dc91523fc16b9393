package dashboard

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/klauspost/compress/gzhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// ServeHTTP answers a request for the page or, with the parameter data, for its data
// about the sites in scope. The caller must check before that the client may see the
// scope, and call SetHeaders. ServeHTTP changes nothing; methods other than GET and
// HEAD get 405.
func ServeHTTP(w http.ResponseWriter, r *http.Request, reporter statusapi.Reporter, scope statusapi.Scope) (err error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return nil
	}
	compressed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err = serve(w, r, reporter, scope); err == nil {
			return
		}
		if known, ok := errors.AsType[*statusapi.Error](err); ok {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(known.Status)
			err = json.NewEncoder(w).Encode(map[string]string{"error": known.Message})
		}
	})).ServeHTTP(w, r)
	return err
}

// compressed returns a handler that compresses the answers of another one with gzip
// for clients that accept it.
var compressed = func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // the options are valid
	}
	return wrap
}()

// serve answers a request without compression.
func serve(w http.ResponseWriter, r *http.Request, reporter statusapi.Reporter, scope statusapi.Scope) error {
	query := r.URL.Query()
	switch data := query.Get("data"); {
	case !query.Has("data"):
		return writePage(w)
	case data == "live":
		return statusapi.ServeHTTP(w, r, "", reporter, scope)
	case data == "lines" || data == "check":
		return statusapi.ServeHTTP(w, r, data, reporter, scope)
	}
	return statusapi.Errorf(http.StatusNotFound, "data: want live, lines or check")
}
