package crawler_test

import (
	"slices"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// The group for * binds no software that serves people or the owners of sites.
func TestSoftwareThatServesIsFree(t *testing.T) {
	m, list := crawler.Builtin().Matcher(nil), rows(t, "serving.tsv", 3) // a User-Agent, a kind and a source
	free := []crawler.Class{crawler.Person, crawler.Library, crawler.Program, crawler.Webhook, crawler.Probe}
	for _, row := range list {
		var id crawler.Identity
		if m.Identify(row[0], &id); !slices.Contains(free, id.Class()) {
			t.Errorf("%q (%s) is %v", row[0], row[1], agents(&id))
		}
	}
	if len(list) < 400 {
		t.Errorf("%d User-Agents, want at least 400", len(list))
	}
}
