package origins

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
	"github.com/caddy-robots/caddy-robots/robots"
)

func TestURLSource(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("User-agent: *\n")) })
	mux.HandleFunc("/once", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ok", http.StatusFound) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(strings.Repeat("# more\n", 1000))); err != nil {
				return
			}
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	fetch := func(path string) (judge.Response, error) {
		s, err := URL(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.(io.Closer).Close()
		return s.Fetch(context.Background(), fake.Home)
	}
	for path, status := range map[string]int{"/ok": 200, "/once": 200, "/missing": 404} {
		if resp, err := fetch(path); err != nil || resp.Status != status {
			t.Errorf("%s: status %d, %v; want %d", path, resp.Status, err, status)
		}
	}
	named, _ := URL(strings.Replace(server.URL, "127.0.0.1", "shop.LOCALHOST", 1) + "/once") // which no DNS has
	if resp, err := named.Fetch(context.Background(), fake.Home); err != nil || resp.Status != 200 {
		t.Errorf("a name below localhost: status %d, %v", resp.Status, err)
	}
	_ = named.(io.Closer).Close()
	if _, err := fetch("/loop"); !errors.Is(err, errRedirects) {
		t.Errorf("/loop: %v, want %v", err, errRedirects)
	}
	if resp, err := fetch("/endless"); err != nil || len(resp.Body) != robots.MaxSize+1 {
		t.Errorf("/endless: %d octets, %v", len(resp.Body), err)
	}
}

// publicConn is a connection that seems to be to a public address.
type publicConn struct{ net.Conn }

func (publicConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

// A redirect of a public server leads to no address of this machine or its network,
// whatever its name and however often the name changes its address.
func TestRedirectsToPrivateAddresses(t *testing.T) {
	var referer, authorization string
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		referer, authorization = r.Header.Get("Referer"), r.Header.Get("Authorization")
		_, _ = io.WriteString(w, "User-agent: *\n")
	}))
	defer inside.Close()
	port := inside.URL[strings.LastIndexByte(inside.URL, ':'):]
	var location string
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, location, http.StatusFound) }))
	defer outside.Close()
	fetch := func(dial func(net.Conn) net.Conn, proxy *url.URL) (judge.Response, error) {
		s, _ := URL("http://www.shop.test/robots.txt?token=secret")
		transport := s.(*urlSource).transport
		transport.Proxy = http.ProxyURL(proxy)
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, outside.Listener.Addr().String())
			return dial(conn), err
		}
		defer s.(io.Closer).Close()
		return s.Fetch(context.Background(), fake.Home)
	}
	public, local := func(c net.Conn) net.Conn { return publicConn{c} }, func(c net.Conn) net.Conn { return c }
	for _, location = range []string{
		"http://127.0.0.1" + port, "http://localhost" + port + "/config/", "http://[::ffff:127.0.0.1]" + port, "http://0.0.0.0" + port,
		"http://x.localhost" + port,
	} {
		if resp, err := fetch(public, nil); err == nil || !strings.Contains(err.Error(), "is not a public address") {
			t.Errorf("to %s: status %d, %v", location, resp.Status, err)
		}
		if resp, err := fetch(local, nil); err != nil || resp.Status != 200 {
			t.Errorf("from a loopback address to %s: %+v, %v", location, resp, err)
		}
	}
	location = "http://user:password@localhost" + port
	if resp, err := fetch(local, nil); err != nil || referer+authorization != "" {
		t.Errorf("the redirect took Referer %q and Authorization %q: %d, %v", referer, authorization, resp.Status, err)
	}
	// The proxy connects, and may do so to its own network.
	for location, want := range map[string]string{"http://10.0.0.1/": "proxy", "http://other.test/": "proxy", "https://shop.test:1/": "redirects", "http://WWW.shop.test/": "redirects"} {
		proxied := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, location, http.StatusFound) }))
		at, _ := url.Parse("http://" + proxied.Listener.Addr().String())
		s, _ := URL("http://www.shop.test/robots.txt")
		s.(*urlSource).transport.Proxy = http.ProxyURL(at)
		_, err := s.Fetch(context.Background(), fake.Home)
		if err == nil || strings.Contains(err.Error(), "behind a proxy") != (want == "proxy") {
			t.Errorf("behind a proxy to %s: %v", location, err)
		}
		_ = s.(io.Closer).Close()
		proxied.Close()
	}
}

func TestAddressesOfRedirects(t *testing.T) {
	const public, private, here = "198.51.100.1:80", "10.0.0.5:80", "127.0.0.1:80"
	for to, from := range map[string]string{ // the lowest kind of address that may redirect there
		"198.51.100.9:443": public, "[2a00:1450::1]:443": public, "[64:ff9b::198.51.100.1]:443": public, "[::ffff:198.51.100.1]:443": public,
		"10.1.2.3:80": private, "192.168.0.1:80": private, "172.16.0.1:80": private, "100.64.0.1:80": private, "[fd00::1]:80": private, "224.0.0.1:80": private,
		"[64:ff9b::10.0.0.1]:80": private, "[::ffff:10.0.0.1]:80": private, "[2002:0a00:0001::]:80": private, "[64:ff9b:1::10.0.0.1]:80": private, "255.255.255.255:80": private,
		"127.0.0.1:2019": here, "127.9.9.9:1": here, "169.254.169.254:80": here, "0.0.0.0:80": here, "[::]:80": here, "[::1]:80": here, "[fe80::1%eth0]:80": here,
		"[64:ff9b::127.0.0.1]:80": here, "[::ffff:169.254.169.254]:80": here,
	} {
		want := map[string]bool{public: from == public, "": from == public, private: from != here, here: true}
		for first, ok := range want {
			f := &urlFetch{from: addrOf(first)}
			if err := f.control(context.Background(), "tcp", to, nil); (err == nil) != ok {
				t.Errorf("%q redirects to %s: %v, want allowed: %v", first, to, err, ok)
			}
		}
	}
	if err := new(urlFetch).control(context.Background(), "tcp", "@socket", nil); err == nil {
		t.Error("no address is a public one")
	}
}

func TestRedirectsFromHTTPS(t *testing.T) {
	request := func(rawURL string) *http.Request {
		r, _ := http.NewRequest(http.MethodGet, rawURL, nil)
		return r
	}
	for to, ok := range map[string]bool{"http://shop.test/robots.txt": false, "https://other.test/robots.txt": true} {
		if err := checkRedirect(request(to), []*http.Request{request("https://shop.test/robots.txt")}); (err == nil) != ok {
			t.Errorf("https to %s: %v", to, err)
		}
	}
}

func TestInvalidURLs(t *testing.T) {
	for _, u := range []string{"", "robots.txt", "/robots.txt", "file:///etc/passwd", "http://", "ftp://h/robots.txt", "http://h/%zz"} {
		if _, err := URL(u); err == nil {
			t.Errorf("URL(%q) has no error", u)
		}
	}
}

func TestInlineCutsLongFiles(t *testing.T) {
	resp, err := Inline(strings.Repeat("#", 2*robots.MaxSize)).Fetch(context.Background(), fake.Home)
	if err != nil || len(resp.Body) != robots.MaxSize+1 {
		t.Errorf("%d octets, %v", len(resp.Body), err)
	}
}
