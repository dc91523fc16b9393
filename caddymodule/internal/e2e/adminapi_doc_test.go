package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// The answers to the requests in docs/admin-api.md have the fields of the
// examples there.
func TestAdminAPIDocumentation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root(t), "docs/admin-api.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: t.TempDir(), host: "localhost", port: freePort(t), admin: freePort(t)}
	writeFile(t, filepath.Join(s.dir, "robots.txt"), shopRobots)
	s.run("\nhttp://shop.example.com:$PORT {\n\trobots\n\tfile_server {\n\t\troot $DIR\n\t}\n}\n")
	for range 2 {
		s.at("shop.example.com", bingbot, "/")
		s.at("shop.example.com", gptbot, "/private/plan.html")
		s.at("shop.example.com", chrome, "/")
	}
	examples := regexp.MustCompile("(?s)```http\n(\\w+) /robots/(\\S*)\n```\n\n```js\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(examples) < 10 {
		t.Fatalf("only %d examples were found", len(examples))
	}
	for _, e := range examples {
		var want, got any
		if err := json.Unmarshal([]byte(e[3]), &want); err != nil {
			t.Errorf("%s /robots/%s: the example is not valid JSON: %v", e[1], e[2], err)
			continue
		}
		s.adminRequest(e[1], e[2], 200, &got)
		compareShape(t, fmt.Sprintf("%s /robots/%s", e[1], e[2]), want, got)
	}
}

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

// compareShape compares an answer with an example: each field of the example must
// be there, with a value of the same type. Of lists, it compares the first entry.
func compareShape(t *testing.T, where string, example, answer any) {
	t.Helper()
	if reflect.TypeOf(example) != reflect.TypeOf(answer) {
		t.Errorf("%s: %v, and in the example %v", where, answer, example)
		return
	}
	switch example := example.(type) {
	case map[string]any:
		for name, value := range example {
			got, ok := answer.(map[string]any)[name]
			if !ok {
				t.Errorf("%s: there is no %s", where, name)
				continue
			}
			compareShape(t, where+" "+name, value, got)
		}
	case []any:
		list := answer.([]any)
		if (len(example) == 0) != (len(list) == 0) {
			t.Errorf("%s: %d entries, and in the example %d", where, len(list), len(example))
		} else if len(list) > 0 {
			compareShape(t, where, example[0], list[0])
		}
	case string:
		if name := where[strings.LastIndex(where, " ")+1:]; name == "action" || name == "reason" || name == "rule" || name == "layer" || name == "crawler" {
			if example != answer {
				t.Errorf("%s: %q, and in the example %q", where, answer, example)
			}
		}
	}
}
