package webdriver

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/child"
	"github.com/caddy-robots/caddy-robots/internal/test/freeport"
)

// endpoints are the commands over HTTP, with their paths below the session's.
var endpoints = map[string]string{
	"Navigate": "POST /url", "GetCurrentURL": "GET /url", "GetTitle": "GET /title", "Back": "POST /back", "Refresh": "POST /refresh",
	"ExecuteScript": "POST /execute/sync", "PerformActions": "POST /actions", "NewWindow": "POST /window/new",
	"SwitchToWindow": "POST /window", "DeleteAllCookies": "DELETE /cookie", "DeleteSession": "DELETE ", "CDP": "POST /goog/cdp/execute",
}

// drive starts a driver that listens on the port of its argument --port, and a browser.
func drive(t testing.TB, path string, env []string, capabilities map[string]any) *Browser {
	t.Helper()
	port, err := freeport.Take()
	if err != nil {
		t.Fatal(err)
	}
	driver := child.Command(path, fmt.Sprintf("--port=%d", port))
	driver.Env = append(os.Environ(), env...)
	if err := driver.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = driver.Process.Kill(); _ = driver.Wait() })
	base := fmt.Sprintf("http://127.0.0.1:%d/session", port)
	var session struct{ SessionID string }
	err = eventually(func() error {
		value, err := call("POST", base, map[string]any{"capabilities": map[string]any{"alwaysMatch": capabilities}})
		if err == nil {
			err = json.Unmarshal(value, &session)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	do := func(command string, parameters any) (json.RawMessage, error) {
		method, path, _ := strings.Cut(endpoints[command], " ")
		return call(method, base+"/"+session.SessionID+path, parameters)
	}
	t.Cleanup(func() { _, _ = do("DeleteSession", nil) })
	return &Browser{t, do}
}

// call sends a command, and returns its value.
func call(method, url string, parameters any) (json.RawMessage, error) {
	var body io.Reader
	if parameters != nil {
		text, err := json.Marshal(parameters)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequest(method, url, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(string(answer))
	}
	return unwrapped(answer), err
}

// openChromium starts Chromium with chromedriver.
func openChromium(t testing.TB, o Options) *Browser {
	t.Helper()
	args := []string{
		"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-component-update", "--password-store=basic",
		"--user-agent=" + ChromeAgent,
	}
	prefs := map[string]any{"download.default_directory": t.TempDir(), "download.prompt_for_download": false}
	if o.NoScript {
		prefs["profile.default_content_setting_values.javascript"] = 2
	}
	if o.NoCookies {
		prefs["profile.default_content_setting_values.cookies"] = 2
	}
	if o.Language != "" {
		prefs["intl.accept_languages"] = o.Language
	}
	if o.Host != "" {
		args = append(args, "--host-resolver-rules=MAP "+o.Host+" 127.0.0.1")
	}
	if o.HTTP3 == "" {
		args = append(args, "--disable-quic")
	} else {
		args = append(args, "--origin-to-force-quic-on="+o.HTTP3, "--ignore-certificate-errors-spki-list="+spkiHash(t, o.Intermediate))
	}
	path := needs(t, "chromium", "chromium-browser", "google-chrome")
	b := drive(t, needs(t, "chromedriver"), nil, map[string]any{
		"acceptInsecureCerts": true,
		"goog:chromeOptions":  map[string]any{"binary": path, "args": args, "prefs": prefs},
	})
	if o.NoStyles {
		// A style sheet of the check has no other parameter, so a document that has one is
		// not blocked.
		b.must("CDP", map[string]any{"cmd": "Network.enable", "params": map[string]any{}})
		b.must("CDP", map[string]any{"cmd": "Network.setBlockedURLs",
			"params": map[string]any{"urls": []string{"*.css*", "*?caddy-robots-pass=*"}}})
	}
	return b
}

// ChromeAgent is the User-Agent of Chromium. Headless Chromium would send another one.
const ChromeAgent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"

// openWebKit starts the browser of WebKitGTK's tests, on a screen that nobody sees.
func openWebKit(t testing.TB, o Options) *Browser {
	t.Helper()
	driver, dir := needs(t, "WebKitWebDriver"), t.TempDir()
	browsers, err := filepath.Glob("/usr/lib/*/webkit2gtk-4.1/MiniBrowser")
	if err != nil || len(browsers) == 0 {
		t.Skip("needs the MiniBrowser of webkit2gtk-driver")
	}
	args := []string{"--automation", "--javascript-can-open-windows-automatically=true"}
	if o.NoScript {
		args = append(args, "--enable-javascript=false")
	}
	if o.NoCookies {
		args = append(args, "--cookies-policy=never")
	}
	if o.Host != "" {
		args = append(args, "--proxy="+proxy(t, o.Host), "--ignore-host=localhost", "--ignore-host=127.0.0.1")
	}
	if o.NoStyles {
		filter := filepath.Join(dir, "filter.json")
		rules := `[{"trigger":{"url-filter":".*","resource-type":["style-sheet"]},"action":{"type":"block"}}]`
		if err := os.WriteFile(filter, []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--content-filter="+filter)
	}
	language := strings.ReplaceAll(o.Language, "-", "_") + ".UTF-8"
	if o.Language == "" {
		language = "en_US.UTF-8"
	}
	env := []string{
		"DISPLAY=" + display(t), "HOME=" + dir, "XDG_CACHE_HOME=" + dir, "XDG_DATA_HOME=" + dir, "LANGUAGE=" + language, "LC_ALL=" + language,
		"WEBKIT_DISABLE_DMABUF_RENDERER=1", "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS=1", "GDK_BACKEND=x11", "NO_AT_BRIDGE=1",
	}
	return drive(t, driver, env, map[string]any{
		"acceptInsecureCerts":      true,
		"webkitgtk:browserOptions": map[string]any{"binary": browsers[0], "args": args},
	})
}

// display starts an X server without a screen, and returns its name.
func display(t testing.TB) string {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	server := child.Command(needs(t, "Xvfb"), "-displayfd", "3", "-nolisten", "tcp", "-screen", "0", "1280x900x24")
	server.ExtraFiles = []*os.File{write}
	err = server.Start()
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	var number int
	if _, err := fmt.Fscan(read, &number); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(":%d", number)
}

// spkiHash returns the hash of the key of a certificate.
func spkiHash(t testing.TB, der []byte) string {
	t.Helper()
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// proxy starts a proxy that finds a host at 127.0.0.1, and returns its URL.
func proxy(t testing.TB, host string) string {
	t.Helper()
	p := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		if r.Out.URL.Hostname() == host {
			r.Out.URL.Host = net.JoinHostPort("127.0.0.1", r.Out.URL.Port())
		}
		r.Out.Host = r.In.Host
	}})
	t.Cleanup(p.Close)
	return p.URL
}
