package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// The problem names the limit that is too low.
func TestEvicted(t *testing.T) {
	for octets, want := range map[int64]string{100: "max_origins", 990: "max_memory"} {
		got := evicted(&statusapi.Memory{Octets: octets, MaxOctets: 1000}, 40, 30)
		if got.Subject != want || !strings.Contains(got.Message, "40 hosts") || !strings.Contains(got.Message, "30 files") || !strings.Contains(got.Advice, want) {
			t.Errorf("%+v", got)
		}
	}
}

// busySite is a step that shows something of a site.
type busySite struct{}

func (busySite) View(bool) statusapi.Section {
	return statusapi.Section{Title: "busy", Rows: [][]string{{"7"}}}
}

// What a step shows of all hosts of a pattern, no single host's tenant sees, and so it is with what is
// wrong.
func TestTenantsSeeNothingOfOthers(t *testing.T) {
	w, list := newWatcher(), []*Handler(nil)
	settings := &config.Settings{Source: &config.Source{Kind: config.SourceFile, Path: "a.txt"}}
	w.configure(t, &list, settings, &text{"User-agent: *\nDisallow: /x\n"}, "*.a.test", "b.test")
	h := list[0]
	h.Views = []statusapi.Viewer{busySite{}}
	h.Problems = func(bool) []statusapi.Problem {
		storm := statusapi.Problem{Kind: "storms", Message: "all", Sites: []string{"*.a.test"}}
		storm.Parts = []statusapi.Problem{{Kind: "storms", Message: "at x.a.test", Sites: []string{"x.a.test"}}}
		return []statusapi.Problem{storm}
	}
	for host, want := range map[string]string{"*.a.test": "all 1", "x.a.test": "at x.a.test 0", "y.a.test": " 0", "b.test": " 1"} {
		scope, told := statusapi.Sites(host), ""
		for _, p := range w.accidents(scope) {
			told += p.Message
		}
		rows := 0
		for _, s := range w.sections(scope) {
			rows += len(s.Rows)
		}
		if got := fmt.Sprint(told, " ", rows); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}
