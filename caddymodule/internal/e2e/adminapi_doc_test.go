package e2e_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// The example of a suspect has all fields, and no others.
func TestAdminAPIDocumentationOfSuspects(t *testing.T) {
	t.Parallel()
	_, example, _ := strings.Cut(readFile(t, filepath.Join(root(t), "docs/admin-api.md")), "GET /robots/suspects\n```\n")
	_, example, _ = strings.Cut(example, "```js\n")
	example, _, _ = strings.Cut(example, "```")
	var suspects statusapi.Suspects
	var want, got any
	for _, into := range []any{&suspects, &want} {
		if err := json.Unmarshal([]byte(example), into); err != nil {
			t.Fatalf("%v:\n%s", err, example)
		}
	}
	again, err := json.Marshal(suspects)
	if err == nil {
		err = json.Unmarshal(again, &got)
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: the example has\n%v\nbut the fields are\n%v", err, want, got)
	}
}
