package webdriver

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/test/child"
)

// openFirefox starts Firefox, and speaks with its Marionette.
func openFirefox(t testing.TB, o Options) *Browser {
	t.Helper()
	program, profile := needs(t, "firefox-esr", "firefox"), t.TempDir()
	prefs := map[string]any{
		"marionette.port": 0, "browser.shell.checkDefaultBrowser": false, "datareporting.policy.dataSubmissionEnabled": false,
		"toolkit.telemetry.reportingpolicy.firstRun": false, "browser.aboutwelcome.enabled": false, "app.update.disabledForTesting": true,
		"network.captive-portal-service.enabled": false, "network.connectivity-service.enabled": false, "browser.startup.page": 0,
		"services.settings.server": "data:,#remote-settings-dummy/v1", "browser.safebrowsing.downloads.enabled": false,
		"extensions.update.enabled": false, "browser.download.folderList": 2, "browser.download.dir": profile,
		"dom.disable_open_during_load": false, "security.sandbox.content.level": 0,
		"network.http.http3.disable_when_third_party_roots_found": false,
		"network.dns.localDomains":                                o.Host,
		"javascript.enabled":                                      !o.NoScript,
	}
	if o.NoCookies {
		prefs["network.cookie.cookieBehavior"] = 2
	}
	if o.Language != "" {
		prefs["intl.accept_languages"] = o.Language
	}
	if o.HTTP3 != "" {
		host, port, _ := strings.Cut(o.HTTP3, ":")
		prefs["network.http.http3.alt-svc-mapping-for-testing"] = host + ";h3=:" + port
	}
	var text strings.Builder
	for name, value := range prefs {
		v, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "user_pref(%q, %s);\n", name, v)
	}
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := child.Command(program, "--marionette", "--remote-allow-system-access", "--headless", "--no-remote", "--profile", profile)
	cmd.Env = append(os.Environ(), "HOME="+profile, "MOZ_CRASHREPORTER_DISABLE=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); settle(profile) })
	var conn net.Conn
	err := eventually(func() error {
		port, err := os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		if err == nil {
			conn, err = net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(port)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	m := &marionette{conn: conn, reader: bufio.NewReader(conn)}
	if _, err := m.read(); err != nil { // its greeting
		t.Fatal(err)
	}
	b := &Browser{t, m.do}
	b.must("NewSession", map[string]any{"acceptInsecureCerts": true, "pageLoadStrategy": "normal"})
	if o.HTTP3 != "" {
		b.chrome(`Cc["@mozilla.org/security/x509certdb;1"].getService(Ci.nsIX509CertDB)
			.addCertFromBase64(arguments[0], "C,C,C")`, base64.StdEncoding.EncodeToString(o.Root))
	}
	if o.NoStyles {
		b.chrome(`Services.obs.addObserver(s => {
			const c = s.QueryInterface(Ci.nsIHttpChannel);
			if (c.loadInfo.externalContentPolicyType == Ci.nsIContentPolicy.TYPE_STYLESHEET) c.cancel(Cr.NS_ERROR_ABORT) }, "http-on-modify-request")`)
	}
	return b
}

// settle waits until the processes of an ended Firefox write no more into its profile, so
// that it can be removed.
func settle(profile string) {
	for range 40 {
		if os.RemoveAll(profile) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// chrome runs a script in the browser itself.
func (b *Browser) chrome(script string, args ...any) {
	b.t.Helper()
	b.must("Marionette:SetContext", map[string]any{"value": "chrome"})
	b.must("ExecuteScript", map[string]any{"script": script, "args": append([]any{}, args...)})
	b.must("Marionette:SetContext", map[string]any{"value": "content"})
}

// marionette is a connection to Firefox. A message is its length, a colon, and JSON.
type marionette struct {
	mu     sync.Mutex
	conn   net.Conn
	reader *bufio.Reader
	id     int
}

func (m *marionette) do(command string, parameters any) (json.RawMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !strings.Contains(command, ":") {
		command = "WebDriver:" + command
	}
	if parameters == nil {
		parameters = map[string]any{}
	}
	m.id++
	message, err := json.Marshal([]any{0, m.id, command, parameters})
	if err != nil {
		return nil, err
	}
	_ = m.conn.SetDeadline(time.Now().Add(patience))
	if _, err := fmt.Fprintf(m.conn, "%d:%s", len(message), message); err != nil {
		return nil, err
	}
	answer, err := m.read()
	if err != nil {
		return nil, err
	}
	var parts []json.RawMessage // 1, id, error, value
	if err := json.Unmarshal(answer, &parts); err != nil || len(parts) != 4 {
		return nil, fmt.Errorf("answer %s", answer)
	}
	if string(parts[2]) != "null" {
		return nil, fmt.Errorf("%s", parts[2])
	}
	return unwrapped(parts[3]), nil
}

func (m *marionette) read() (json.RawMessage, error) {
	size, err := m.reader.ReadString(':')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(size, ":"))
	if err != nil {
		return nil, err
	}
	message := make([]byte, n)
	_, err = io.ReadFull(m.reader, message)
	return message, err
}
