package live

import (
	"strings"
	"testing"

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
