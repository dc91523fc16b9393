package forwarded

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// A request of a peer that is not trusted, or with a field missing, is logged, once
// in ten seconds.
func TestReadLogsWhatItDoesNotAccept(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	reader, now := newReader(byOriginal, zap.New(core)), time.Unix(1_800_000_000, 0)
	header := xOriginal("GET", "http://a.test/")
	if answer, r := reader.read(httptest.NewRecorder(), subrequest(true, header), now); r == nil || answer == nil || r.Host != "a.test" {
		t.Error("a sub-request of a trusted proxy is not accepted")
	}
	for i, tt := range []struct {
		trusted bool
		header  http.Header
		after   time.Duration
		logged  int
		err     string
		missed  int64
	}{
		{false, header, 0, 1, errUntrusted.Error(), 0},
		{true, fields("X-Original-Method: GET"), 9 * time.Second, 1, errUntrusted.Error(), 0},
		{true, fields("X-Original-Method: GET"), 10 * time.Second, 2, "X-Original-Url is missing", 1},
	} {
		if _, r := reader.read(httptest.NewRecorder(), subrequest(tt.trusted, tt.header), now.Add(tt.after)); r != nil {
			t.Errorf("%d: it is accepted", i)
		}
		lines := logs.All()
		if len(lines) != tt.logged {
			t.Fatalf("%d: %d lines", i, len(lines))
		}
		if got := lines[len(lines)-1].ContextMap(); got["error"] != tt.err || got["not_logged"] != tt.missed {
			t.Errorf("%d: logged %v", i, got)
		}
	}
}

func TestAnswer(t *testing.T) {
	for _, tt := range []struct {
		family, method string
		status, want   int
		real, length   string
	}{
		{byForwarded, "GET", 200, 200, "", "5"}, {byForwarded, "GET", 429, 429, "", "5"}, {byForwarded, "HEAD", 403, 403, "", ""},
		{byOriginal, "GET", 200, 200, "", "5"}, {byOriginal, "GET", 429, 403, "429", "5"}, {byOriginal, "HEAD", 404, 403, "404", ""},
	} {
		w := httptest.NewRecorder()
		a := newAnswer(w, tt.family, tt.method)
		a.Header().Set("Content-Length", "5")
		a.Header()["X-Robots-Tag"] = []string{"noindex", "bingbot: noarchive"}
		a.WriteHeader(tt.status)
		h := w.Result().Header
		if w.Code != tt.want || h.Get("X-Robots-Status") != tt.real || h.Get("Content-Length") != tt.length || len(h["X-Robots-Tag"]) != 1 || h.Get("X-Robots-Tag") != "noindex, bingbot: noarchive" {
			t.Errorf("%s %s %d: %d %v", tt.family, tt.method, tt.status, w.Code, h)
		}
	}
}
