package caddymodule

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Errors in a policy or an answer name the line.
func TestPolicyAndAnswerErrors(t *testing.T) {
	for text, want := range map[string]string{
		"policy":                                 "policy has no rules: give no-ai or no-training",
		"policy no-trainig":                      `unknown preset "no-trainig" (the presets are no-ai and no-training); did you mean no-training?, at Testfile:2`,
		"policy {\nhidden\n}":                    "hidden needs at least one value",
		"policy {\ndeny ai-trainig\n}":           "did you mean ai-training?, at Testfile:3",
		"policy {\ndeny /x seo\n}":               `"seo" comes after a path`,
		"policy {\nsignal search\n}":             `"search" is not key=value`,
		"policy {\ndelay seo fast\n}":            `delay: "fast" is not a duration: write one at the end`,
		"policy no-ai {\ndenny GPTBot\n}":        `unknown subdirective "denny": did you mean deny?`,
		"policy {\nhidden secret\n}":             "its path must start with / or *, at Testfile:3",
		"policy {\nlicense a b\n}":               "license takes one value, not 2",
		"policy no-ai\npolicy no-ai":             "policy is given twice",
		"policy {\ndeny seo\n\ndelay seo 10s\n}": "delay seo contradicts deny seo (line 3): a crawler that is denied the whole site needs no delay, at Testfile:5",
		"policy no-training {\nallow GPTBott\n}": "did you mean GPTBot?",
		"answer disallowed":                      "want a verdict (disallowed, impostor, throttled, pending, unavailable, hidden)",
		"answer denied 403":                      `answer "denied": want disallowed, impostor`,
		"answer disallowed 200":                  "answer disallowed 200: want the status 4xx other than 429",
		"answer disallowed 429":                  "want the status 4xx other than 429",
		"answer disallowed 503":                  "want the status 4xx other than 429",
		"answer impostor 500":                    "want the status 4xx other than 429",
		"answer throttled 403":                   "want the status 429 or 503",
		"answer throttled abort":                 "want the status 429 or 503",
		"answer pending redir /":                 "want the status 429 or 503",
		"answer unavailable 500":                 "want the status 503",
		"answer hidden 403":                      "want the status 404 or 410",
		"answer hidden redir /x":                 "want the status 404 or 410",
		"answer disallowed redir":                "answer disallowed redir",
		"answer disallowed redir mailto:x@y":     "want an http or https URL",
		"answer disallowed redir relative":       "want an http or https URL",
		"answer disallowed soon":                 `unknown value "soon": want a status, redir or abort`,
		"answer throttled 429 Slower, please.":   `answer throttled 429: the text has 2 words without quotes: write it as one value, "Slower, please.", at Testfile:2`,
		"answer disallowed redir /a b":           `answer disallowed redir: unexpected "/a b"`,
		"answer hidden 404\nanswer hidden 410":   "answer hidden is given twice, at Testfile:3",
	} {
		h := new(Handler)
		err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser("robots {\n" + text + "\n}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n%v\nwant\n%s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows a hidden path: %v", err)
		}
	}
}

// A policy has the name of the file with its lines, also if a Caddyfile imports that
// file. It has none if its statements are in several files.
func TestFileOfAPolicy(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"shop.caddy": "robots {\n\tpolicy {\n\t\tdeny seo\n\t}\n}\n", "deny.caddy": "deny seo\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		":80 {\n\trobots {\n\t\tpolicy no-ai\n\t}\n}":                                            "main.caddyfile",
		"(ai) {\n\trobots {\n\t\tpolicy {\n\t\t\tdeny seo\n\t\t}\n\t}\n}\n:80 {\n\timport ai\n}": "main.caddyfile",
		":80 {\n\timport shop.caddy\n}":                                                          "shop.caddy",
		":80 {\n\trobots {\n\t\tpolicy no-training {\n\t\t\timport deny.caddy\n\t\t}\n\t}\n}":    "",
	} {
		config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text+"\n"), map[string]any{"filename": filepath.Join(dir, "main.caddyfile")})
		if err != nil {
			t.Fatal(err)
		}
		found := findPart(decoded(t, config), func(object map[string]any) bool { return object["handler"] == "robots" })
		if got, _ := found["policy"].(map[string]any)["file"].(string); got != want {
			t.Errorf("%s\nfile %q, want %q", text, got, want)
		}
	}
}

// decoded returns a configuration as a tree.
func decoded(t *testing.T, config []byte) (tree any) {
	t.Helper()
	if err := json.Unmarshal(config, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// JSON is validated in the same way as a Caddyfile. With a local source, a
// redirect to a disallowed path is an error.
func TestInvalidAnswersInJSON(t *testing.T) {
	for want, h := range map[string]*Handler{
		"want one of a status, redir URL and abort": {Settings: Settings{Answers: []Answer{{Verdict: "disallowed", Status: 403, Abort: true}}}},
		"a text needs a status":                     {Settings: Settings{Answers: []Answer{{Verdict: "disallowed", Text: "x", Abort: true}}}},
		"robots.txt disallows this path itself": {Settings: Settings{
			Source:  &Source{Kind: sourceInline, Text: "User-agent: *\nDisallow: /shut/\n"},
			Answers: []Answer{{Verdict: "disallowed", Redirect: "/shut/sorry"}},
		}},
	} {
		if err := provisionError(t, h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// provisionError returns the error of provisioning a handler.
func provisionError(t *testing.T, h *Handler) error {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	err := h.provision(ctx, startedApp(t, ctx))
	if cleanup := h.Cleanup(); cleanup != nil {
		t.Error(cleanup)
	}
	return err
}
