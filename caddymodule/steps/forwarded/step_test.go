package forwarded

import (
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

// A redirect that the client of the proxy would not get is an error, and a family that there
// is not.
func TestJoin(t *testing.T) {
	for _, tt := range []struct{ family, redirect, want string }{
		{byForwarded, "", ""}, {byOriginal, "", ""}, {"", "", "want off or x_forwarded or x_original"},
		{byForwarded, "https://example.com/terms", ""}, {byForwarded, "{http.request.scheme}://example.com/terms", ""},
		{byForwarded, "/terms", "write a full URL"}, {byOriginal, "https://example.com/terms", "answer disallowed can't redirect"},
	} {
		s := step.Site{Redirects: map[string]string{}, Log: zap.NewNop()}
		if tt.redirect != "" {
			s.Redirects["disallowed"] = tt.redirect
		}
		err := (&ForwardedRequest{Family: tt.family}).Join(s)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %q: %v, want %q", tt.family, tt.redirect, err, tt.want)
		}
	}
}
