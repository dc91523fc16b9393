package notify

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest"
	"go.uber.org/zap/zaptest/observer"
)

// provisioned returns a handler of a configuration.
func provisioned(t *testing.T, urls ...string) (*Handler, error) {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	h := &Handler{URLs: urls}
	return h, h.Provision(ctx)
}

// Messages that wait outlive a reload, if the new configuration has the URL. When no
// configuration has it, nothing is left.
func TestReload(t *testing.T) {
	current := goleak.IgnoreCurrent()
	bodies, answer := make(chan string), make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Title") + ": " + string(body)
		<-answer
		fmt.Fprint(w, "{}")
	}))
	u := "ntfy://" + service.Listener.Addr().String() + "/topic?scheme=http"
	one, err := provisioned(t, u, u+"&priority=high")
	if err != nil {
		t.Fatal(err)
	}
	happen := func(h *Handler, site string) {
		h.receivers[0].add(eventOf(t, "robots_flood", map[string]any{"state": "begin", "site": site, "what": "it is wrong", "since": "today"}), h.log)
	}
	happen(one, "a.test")
	want := func(site string) {
		t.Helper()
		if got, want := <-bodies, "POST /topic robots: flood at "+site+": it is wrong.\nSince: today"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	want("a.test")
	happen(one, "b.test") // waits for the answer
	two, err := provisioned(t, u)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Cleanup(); err != nil {
		t.Fatal(err)
	}
	happen(two, "c.test")
	two.receivers[0].log.Set(zaptest.NewLogger(t))
	close(answer)
	want("b.test")
	want("c.test")
	if err := two.Cleanup(); err != nil {
		t.Fatal(err)
	}
	service.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if err := goleak.Find(current); err != nil {
		t.Error(err)
	}
}

// A URL that can't be used releases those before it.
func TestHalfProvisioned(t *testing.T) {
	const u = "ntfy://ntfy.invalid/topic"
	h, err := provisioned(t, u, "ntfy://user:T0ken@ntfy.invalid/")
	if err == nil || !strings.Contains(err.Error(), "URL 2: topic is required") {
		t.Errorf("%v", err)
	}
	first := h.receivers[0]
	if err := h.Cleanup(); err != nil || first.stopped.Err() == nil {
		t.Errorf("%v; not closed", err)
	}
	if err := h.Cleanup(); err != nil {
		t.Error(err)
	}
	if h, err := provisioned(t); err == nil || h.Cleanup() != nil {
		t.Error("without a URL")
	}
	again, err := provisioned(t, u)
	if err != nil || again.receivers[0] == first {
		t.Errorf("%v; a closed receiver is used", err)
	}
	_ = again.Cleanup()
}

// Events of others are not sent, and the log says so once.
func TestOtherEvents(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	h := &Handler{log: zap.New(core), receivers: []*receiver{{}}}
	for range 3 {
		for _, name := range []string{"cert_obtained", "robots_flood"} { // the second one has no origin
			if err := h.Handle(t.Context(), eventOf(t, name, nil)); err != nil {
				t.Error(err)
			}
		}
	}
	if logs.Len() != 1 {
		t.Errorf("%d lines", logs.Len())
	}
}

// Caddy logs handlers of events at DEBUG.
func TestHandlersAreLoggedWithoutSecrets(t *testing.T) {
	h, err := provisioned(t, "ntfy://user:T0ken@ntfy.invalid/T0ken")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Cleanup()
	var out bytes.Buffer
	zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&out), zap.DebugLevel)).
		Debug("invoking subscribed handler", zap.Any("handler", h))
	if strings.Contains(out.String(), "T0ken") || !strings.Contains(out.String(), "ntfy://ntfy.invalid") {
		t.Error(out.String())
	}
}
