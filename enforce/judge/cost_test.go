package judge

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// No file takes more memory than it costs, however it is written.
func TestCostOfFiles(t *testing.T) {
	s, err := Settings{}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	s.RulesOf(Content{Body: []byte("User-agent: first\n"), Outcome: Loaded}) // makes what all files share
	live := func() int64 {
		var m runtime.MemStats
		for range 3 {
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for begin, line := range map[string]string{
		"User-agent: *\n": "Disallow:/%x\n", "User-agent: a\n": "Disallow:/*%x\n", "User-agent: b\n": "Disallow: /some/longer/path/%d/x\n",
		"User-agent: c\n": "Disallow:/A%%41//%x\n", "User-agent: d\n": "User-agent:%x\n",
		"# groups\n": "User-agent:b%[1]x\nDisallow:/%[1]x\n", "# delays\n": "User-agent:b%[1]x\nCrawl-delay:%[1]d\n",
	} {
		var text strings.Builder
		text.WriteString(begin)
		for i := 0; text.Len() < 250<<10; i++ {
			fmt.Fprintf(&text, line, i)
		}
		before := live()
		rules := s.RulesOf(Content{Body: []byte(text.String()), Outcome: Loaded})
		for _, group := range rules.File().Groups() {
			group.Match("/x") // compiles it
		}
		took := live() - before
		if own, file := rules.Size(); took > own+file {
			t.Errorf("%q: %d octets cost %d, and take %d", line, text.Len(), own+file, took)
		}
	}
}
