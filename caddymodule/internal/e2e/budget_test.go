package e2e_test

import (
	"fmt"
	"testing"
)

// A reload can raise max_entries, and keeps all budgets.
func TestReloadWithMoreEntriesKeepsBudgets(t *testing.T) {
	t.Parallel()
	const first = "FirstBot/1.0 (+https://first.example/)"
	config := func(entries int) string {
		return fmt.Sprintf("http://:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\nCrawl-delay: 600\"\n\t\tcrawl_delay {\n\t\t\tmax_entries %d\n\t\t}\n\t}\n\trespond page\n}\n", entries)
	}
	made, s := 0, start(t, config(1))
	flood := func(n int) {
		for range n {
			made++
			s.get(fmt.Sprintf("MadeUp%dBot/1.0 (+https://%d.example/)", made, made), "/")
		}
	}
	s.wants(200, s.get(first, "/"), "the first request")
	s.eventually("its budget is dropped because of many other crawlers", func() bool {
		flood(100)
		return s.get(first, "/").status == 200
	})
	enough := 2 * made
	if err := s.reload(config(100_000)); err != nil {
		t.Fatal(err)
	}
	s.get(first, "/")
	s.wants(429, s.get(first, "/"), "the second request after the reload")
	flood(enough)
	s.wants(429, s.get(first, "/"), fmt.Sprintf("after %d other crawlers", enough))
	if err := s.reload(config(200_000)); err != nil {
		t.Fatal(err)
	}
	s.wants(429, s.get(first, "/"), "after another reload")
}
