package step_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-robots/caddy-robots/caddymodule/standard"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/internal/test/freeport"
)

// run runs a site with lines of robots, and returns its address.
func run(t *testing.T, lines string) (address string, err error) {
	port, err := freeport.Take()
	if err != nil {
		t.Fatal(err)
	}
	address = fmt.Sprintf("http://127.0.0.1:%d", port)
	text := fmt.Sprintf("{\nadmin off\n}\n%s {\nrobots {\nsource inline \"User-agent: *\"\n%s\n}\nrespond ok\n}\n", address, lines)
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": "Caddyfile"})
	if err == nil {
		t.Cleanup(func() { _ = caddy.Stop() })
		err = caddy.Load(config, true)
	}
	return address, err
}

// A step that nothing of the plugin knows serves requests; its line has errors with their
// places, can be off, and is suggested.
func TestStepOfOnesOwn(t *testing.T) {
	for lines, want := range map[string]string{
		"greeting":                 "greeting: want names of crawlers, at Caddyfile:7",
		"greeting A\ngreeting B":   "greeting is given twice, at Caddyfile:8",
		"greting A":                "did you mean greeting?, at Caddyfile:7",
		"greeting off\ngreeting A": "greeting is given twice",
		"shed {\ngreeting A\n}":    `unknown subdirective "greeting": this block has in_flight`,
	} {
		if _, err := run(t, lines); err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), ", at ") > 1 {
			t.Errorf("%q: %v, want %s, with one place", lines, err, want)
		}
	}
	address, err := run(t, "greeting GPTBot")
	if err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string]string{"GPTBot/1.0": "Hello, GPTBot", "bingbot/2.0": "", "Mozilla/5.0 Firefox/140.0": ""} {
		r, _ := http.NewRequest(http.MethodGet, address, nil)
		r.Header.Set("User-Agent", agent)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := answer.Header.Get("X-Greeting"); answer.StatusCode != http.StatusOK || got != want {
			t.Errorf("%s: %d, %q; want %q", agent, answer.StatusCode, got, want)
		}
	}
}

// A step that the program does not have is an error that names those that it has.
func TestUnknownStep(t *testing.T) {
	const config = `{"admin":{"disabled":true},"apps":{"http":{"servers":{"s":{"listen":["127.0.0.1:0"],"routes":[{"handle":[
		{"handler":"robots","steps":{"shedd":{}}}]}]}}}}}`
	err := caddy.Load([]byte(config), true)
	if err == nil || !regexp.MustCompile(`this program has no step "shedd": it has .*\bgreeting\b`).MatchString(err.Error()) {
		t.Error(err)
	}
}

var numbers, texts = step.NewSlot[int](), step.NewSlot[string]()

// The state of a step is its own, is zero for each request, and allocates nothing.
func TestStates(t *testing.T) {
	x := new(step.Exchange)
	*numbers.Of(x), *texts.Of(x) = 7, "a"
	if *numbers.Of(x) != 7 || *texts.Of(x) != "a" {
		t.Errorf("%d, %q", *numbers.Of(x), *texts.Of(x))
	}
	if n := testing.AllocsPerRun(100, func() { x.Clear(); *numbers.Of(x)++; *texts.Of(x) += "" }); n != 0 || *numbers.Of(x) != 1 || *texts.Of(x) != "" {
		t.Errorf("%v allocations, then %d, %q", n, *numbers.Of(x), *texts.Of(x))
	}
}
