package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// traces receives spans (OTLP over HTTP).
type traces struct {
	*httptest.Server
	mu    sync.Mutex
	spans []map[string]string // attributes
}

func newTraces(t *testing.T) *traces {
	t.Helper()
	x := new(traces)
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &request) != nil {
			t.Errorf("%s: the request has no spans: %v", r.URL.Path, err)
			return
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, span := range scope.Spans {
					attributes := make(map[string]string)
					for _, a := range span.Attributes {
						if attributes[a.Key] = a.Value.GetStringValue(); a.Key == "robots.line" {
							attributes[a.Key] = fmt.Sprint(a.Value.GetIntValue())
						}
					}
					x.spans = append(x.spans, attributes)
				}
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(x.CloseClientConnections)
	t.Cleanup(x.Close)
	return x
}

// about returns the attributes of a span with this attribute, nil if none has
// arrived.
func (x *traces) about(name, value string) map[string]string {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, span := range x.spans {
		if span[name] == value {
			return span
		}
	}
	return nil
}

// With Caddy's tracing handler, the span of a request has the decision.
func TestSpansHaveTheDecision(t *testing.T) {
	x := newTraces(t)
	for name, value := range map[string]string{
		"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_ENDPOINT": x.URL,
		"OTEL_BSP_SCHEDULE_DELAY": "50",
	} {
		t.Setenv(name, value) // the server inherits it
	}
	s := start(t, `
http://:$PORT {
	tracing
	robots {
		source inline "User-agent: *
Disallow: /private/"
	}
	respond "hello"
}`)
	s.wants(403, s.get(gptbot, "/private/x"), "a disallowed path")
	s.wants(200, s.get(chrome, "/private/x"), "a person")
	s.eventually("the span of the crawler comes", func() bool { return x.about("robots.crawler", "GPTBot") != nil })
	span := x.about("robots.crawler", "GPTBot")
	for name, want := range map[string]string{
		"robots.action": "deny", "robots.reason": "disallowed", "robots.rule": "Disallow: /private/", "robots.line": fmt.Sprint(s.lineOf("Disallow: /private/")), "robots.layer": "file",
		"robots.class": "crawler", "robots.purpose": "ai-training", "robots.group": "*", "robots.verified": "none",
	} {
		if span[name] != want {
			t.Errorf("%s is %q, want %q", name, span[name], want)
		}
	}
	s.eventually("the span of the person comes", func() bool { return x.about("robots.reason", "person") != nil })
	if span := x.about("robots.reason", "person"); span["robots.action"] != "pass" || span["robots.crawler"] != "" {
		t.Errorf("%v", span)
	}
}
