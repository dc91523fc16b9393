package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// If the server has no connection, one problem stands for all lists.
func TestProblemsOfManyLists(t *testing.T) {
	var problems []statusapi.Problem
	for i := range 40 {
		if got := summarize(problems, 50); i <= mostListProblems && len(got) != i || i > mostListProblems && len(got) != 1 {
			t.Errorf("%d problems become %d", i, len(got))
		}
		problems = append(problems, statusapi.Problem{Severity: statusapi.Warning, Kind: "list", Subject: fmt.Sprintf("https://%02d.test/list.json", 39-i), Message: "m", Advice: "a"})
	}
	got := summarize(problems, 50)[0]
	if got.Severity != statusapi.Warning || got.Kind != "list" || !strings.HasPrefix(got.Message, "40 of 50 lists") || !strings.Contains(got.Message, "https://00.test/list.json") {
		t.Errorf("%+v", got)
	}
}
