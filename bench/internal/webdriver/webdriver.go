// Package webdriver drives Chromium, Firefox and WebKit for a test. All of them understand
// the commands of the W3C's WebDriver: chromedriver and WebKitWebDriver over HTTP, Firefox
// over the protocol of its Marionette.
package webdriver

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// patience bounds all waiting. It is long, because the machine may be busy.
const patience = time.Minute

// Options are what a browser is started with.
type Options struct {
	NoScript, NoStyles, NoCookies bool
	// Host is a host whose address is 127.0.0.1.
	Host string
	// Language is the language of its user; English if it is "".
	Language string
	// HTTP3 names a host and port to which Chromium and Firefox speak HTTP/3. Root and
	// Intermediate are the certificates, in the DER form, of the authority there.
	HTTP3              string
	Root, Intermediate []byte
}

// Browser is a running browser with an empty profile. It is not safe for concurrent use.
type Browser struct {
	t  testing.TB
	do func(command string, parameters any) (json.RawMessage, error)
}

// Engine starts a browser, which ends with the test.
type Engine struct {
	Name string
	Open func(testing.TB, Options) *Browser
}

// Engines are the browsers.
func Engines() []Engine {
	return []Engine{{"chromium", openChromium}, {"firefox", openFirefox}, {"webkit", openWebKit}}
}

// needs returns the path of a program. If it is not installed, the test is skipped.
func needs(t testing.TB, programs ...string) string {
	t.Helper()
	for _, program := range programs {
		if path, err := exec.LookPath(program); err == nil {
			return path
		}
		if _, err := os.Stat(program); err == nil {
			return program
		}
	}
	t.Skip("needs ", programs[0])
	return ""
}

// Open opens a URL. It is no error if that does not lead to a page.
func (b *Browser) Open(url string) error {
	_, err := b.do("Navigate", map[string]any{"url": url})
	return err
}

// Back goes back in the history.
func (b *Browser) Back() { b.must("Back", map[string]any{}) }

// Reload loads the page again.
func (b *Browser) Reload() { b.must("Refresh", map[string]any{}) }

// Press presses a key, on what has the focus.
func (b *Browser) Press(key string) {
	b.t.Helper()
	b.must("PerformActions", map[string]any{"actions": []any{map[string]any{"type": "key", "id": "keys", "actions": []any{
		map[string]any{"type": "keyDown", "value": key}, map[string]any{"type": "keyUp", "value": key},
	}}}})
}

// Enter is the key of this name.
const Enter = "\ue007"

// URL returns the URL of the page.
func (b *Browser) URL() string { return text(b.must("GetCurrentURL", nil)) }

// Title returns the title of the page.
func (b *Browser) Title() string { return text(b.must("GetTitle", nil)) }

// Eval returns the value of a JavaScript expression, a string.
func (b *Browser) Eval(expression string) string {
	b.t.Helper()
	return text(b.must("ExecuteScript", map[string]any{"script": "return String(" + expression + ")", "args": []any{}}))
}

// Run runs JavaScript in the page.
func (b *Browser) Run(script string) {
	b.t.Helper()
	b.must("ExecuteScript", map[string]any{"script": script, "args": []any{}})
}

// Forget deletes the cookies of the page's site.
func (b *Browser) Forget() { b.must("DeleteAllCookies", nil) }

// NewTab opens a tab and goes there.
func (b *Browser) NewTab() {
	b.t.Helper()
	var tab struct{ Handle string }
	if err := json.Unmarshal(b.must("NewWindow", map[string]any{"type": "tab"}), &tab); err != nil {
		b.t.Fatal(err)
	}
	b.must("SwitchToWindow", map[string]any{"handle": tab.Handle})
}

func (b *Browser) must(command string, parameters any) json.RawMessage {
	b.t.Helper()
	value, err := b.do(command, parameters)
	if err != nil {
		b.t.Fatalf("%s: %v", command, err)
	}
	return value
}

func text(value json.RawMessage) (s string) {
	if json.Unmarshal(value, &s) != nil {
		return string(value)
	}
	return s
}

// unwrapped returns the member "value" of an answer, or the answer without one.
func unwrapped(answer json.RawMessage) json.RawMessage {
	var wrapped struct{ Value json.RawMessage }
	if json.Unmarshal(answer, &wrapped) == nil && wrapped.Value != nil {
		return wrapped.Value
	}
	return answer
}

// eventually calls try until it returns no error.
func eventually(try func() error) error {
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		err := try()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("after %v: %w", patience, err)
		}
	}
}
