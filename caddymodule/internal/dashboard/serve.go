package dashboard

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

// ServeHTTP answers a request for the page or, with the parameter data, for its data
// about the sites in scope. The caller must check before that the client may see the
// scope, and call SetHeaders. ServeHTTP changes nothing; methods other than GET and
// HEAD get 405.
func ServeHTTP(w http.ResponseWriter, r *http.Request, reporter status.Reporter, scope status.Scope) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return nil
	}
	cw := newCompressor(w, r)
	query := r.URL.Query()
	if !query.Has("data") {
		if err := writePage(cw); err != nil {
			return err
		}
		return cw.finish()
	}
	if err := serveData(cw, r, query, reporter, scope); err != nil {
		known, ok := errors.AsType[*status.Error](err)
		if !ok {
			return err
		}
		cw.Header().Set("Content-Type", "application/json")
		cw.WriteHeader(known.Status)
		if err := json.NewEncoder(cw).Encode(map[string]string{"error": known.Message}); err != nil {
			return err
		}
	}
	return cw.finish()
}

// serveData answers a request for data.
func serveData(w http.ResponseWriter, r *http.Request, query url.Values, reporter status.Reporter, scope status.Scope) error {
	switch data := query.Get("data"); data {
	case "live":
		q, err := liveQuery(query)
		if err != nil {
			return err
		}
		if scope, err = status.Narrow(reporter, scope, query["site"]); err != nil {
			return err
		}
		live, err := NewLive(reporter, scope, q)
		if err != nil {
			return err
		}
		return status.Write(w, r, live)
	case "policies", "check":
		return status.ServeHTTP(w, r, data, reporter, scope)
	}
	return &status.Error{Status: http.StatusNotFound, Message: "data: want live, policies or check"}
}

// liveQuery reads a LiveQuery from the parameters of a request.
func liveQuery(query url.Values) (q LiveQuery, err error) {
	q.Span, q.OriginID = status.SpanHour, query.Get("policy")
	switch span := query.Get("span"); span {
	case "":
	case status.SpanHour, status.SpanDay, status.SpanMonth:
		q.Span = span
	default:
		return q, &status.Error{Status: http.StatusBadRequest, Message: "span: want hour, day or month"}
	}
	if after := query.Get("after"); after != "" {
		if q.After, err = strconv.ParseUint(after, 10, 63); err != nil {
			return q, &status.Error{Status: http.StatusBadRequest, Message: "after: want a whole number that is not negative"}
		}
	}
	return q, nil
}
