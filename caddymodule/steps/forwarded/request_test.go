package forwarded

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// fields returns a header with fields of lines "Name: value".
func fields(lines ...string) http.Header {
	h := make(http.Header)
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}

func xForwarded(method, proto, host, uri string) http.Header {
	return fields("X-Forwarded-Method: "+method, "X-Forwarded-Proto: "+proto, "X-Forwarded-Host: "+host, "X-Forwarded-Uri: "+uri)
}

func xOriginal(method, url string) http.Header {
	return fields("X-Original-Method: "+method, "X-Original-URL: "+url)
}

func TestDescribe(t *testing.T) {
	long := strings.Repeat("a", maxValue)
	for _, tt := range []struct {
		name, family string
		header       http.Header
		want         description
		err          string // a part of the error; "" for none
	}{
		{name: "Traefik", family: byForwarded, header: xForwarded("GET", "https", "a.test", "/x?y=1"), want: description{"GET", "https", "a.test", "/x?y=1"}},
		{name: "a path stays as it was sent", family: byForwarded, header: xForwarded("GET", "http", "a.test:8080", "/a/..%2f%70rivate//x"), want: description{"GET", "http", "a.test:8080", "/a/..%2f%70rivate//x"}},
		{name: "an absolute URI", family: byForwarded, header: xForwarded("GET", "http", "a.test", "http://b.test/x"), want: description{"GET", "http", "a.test", "http://b.test/x"}},
		{name: "OPTIONS", family: byForwarded, header: xForwarded("OPTIONS", "http", "a.test", "*"), want: description{"OPTIONS", "http", "a.test", "*"}},
		{name: "no host", family: byForwarded, header: xForwarded("GET", "http", "", "/"), want: description{"GET", "http", "", "/"}},
		{name: "WebSocket of Traefik", family: byForwarded, header: xForwarded("GET", "wss", "a.test", "/"), want: description{"GET", "https", "a.test", "/"}},
		{name: "a long URI", family: byForwarded, header: xForwarded("GET", "http", "a.test", "/"+long[1:]), want: description{"GET", "http", "a.test", "/" + long[1:]}},
		{name: "too long", family: byForwarded, header: xForwarded("GET", "http", "a.test", "/"+long), err: "X-Forwarded-Uri has"},
		{name: "no method", family: byForwarded, header: fields("X-Forwarded-Proto: http", "X-Forwarded-Host: a.test", "X-Forwarded-Uri: /"), err: "X-Forwarded-Method is missing"},
		{name: "no URI", family: byForwarded, header: fields("X-Forwarded-Method: GET", "X-Forwarded-Proto: http", "X-Forwarded-Host: a.test"), err: "X-Forwarded-Uri is missing"},
		{name: "only the other family", family: byForwarded, header: xOriginal("GET", "http://a.test/"), err: "is missing"},
		{name: "twice", family: byForwarded, header: fields("X-Forwarded-Method: GET", "X-Forwarded-Proto: http", "X-Forwarded-Host: a.test", "X-Forwarded-Uri: /", "X-Forwarded-Uri: /"), err: "X-Forwarded-Uri is there 2 times"},
		{name: "two hosts in one", family: byForwarded, header: xForwarded("GET", "http", "a.test,b.test", "/"), err: "the host"},
		{name: "a host with a path", family: byForwarded, header: xForwarded("GET", "http", "a.test/x", "/"), err: "the host"},
		{name: "two schemes in one", family: byForwarded, header: xForwarded("GET", "https,http", "a.test", "/"), err: "the scheme"},
		{name: "another scheme", family: byForwarded, header: xForwarded("GET", "ftp", "a.test", "/"), err: "the scheme"},
		{name: "two methods in one", family: byForwarded, header: xForwarded("GET, POST", "http", "a.test", "/"), err: "the method"},
		{name: "an empty method", family: byForwarded, header: xForwarded("", "http", "a.test", "/"), err: "the method"},
		{name: "an empty URI", family: byForwarded, header: xForwarded("GET", "http", "a.test", ""), err: "the URI"},
		{name: "a blank in the URI", family: byForwarded, header: xForwarded("GET", "http", "a.test", "/a b"), err: "the URI"},

		{name: "nginx", family: byOriginal, header: xOriginal("HEAD", "https://a.test/x?u=http://b.test/"), want: description{"HEAD", "https", "a.test", "/x?u=http://b.test/"}},
		{name: "a URL without a path", family: byOriginal, header: xOriginal("GET", "https://a.test?x"), want: description{"GET", "https", "a.test", "/?x"}},
		{name: "a URL of a host alone", family: byOriginal, header: xOriginal("GET", "HTTP://a.test:80"), want: description{"GET", "http", "a.test:80", "/"}},
		{name: "a double slash", family: byOriginal, header: xOriginal("GET", "http://a.test//private"), want: description{"GET", "http", "a.test", "//private"}},
		{name: "no host in the URL", family: byOriginal, header: xOriginal("GET", "http:///private"), want: description{"GET", "http", "", "/private"}},
		{name: "IPv6", family: byOriginal, header: xOriginal("GET", "http://[2001:db8::1]:80/x"), want: description{"GET", "http", "[2001:db8::1]:80", "/x"}},
		{name: "other octets", family: byOriginal, header: xOriginal("GET", "http://a.test/é\xff"), want: description{"GET", "http", "a.test", "/é\xff"}},
		{name: "only a path", family: byOriginal, header: xOriginal("GET", "/private"), err: "$scheme://$host$request_uri"},
		{name: "a path with a URL", family: byOriginal, header: xOriginal("GET", "/private?u=http://a.test/"), err: "scheme"},
		{name: "user information", family: byOriginal, header: xOriginal("GET", "http://a@b.test/"), err: "the host"},
		{name: "no original method", family: byOriginal, header: fields("X-Original-URL: http://a.test/"), err: "X-Original-Method is missing"},
		{name: "two URLs", family: byOriginal, header: fields("X-Original-Method: GET", "X-Original-URL: http://a.test/", "X-Original-URL: http://b.test/"), err: "X-Original-Url is there 2 times"},
		{name: "the family of a client", family: byOriginal, header: xForwarded("GET", "http", "a.test", "/"), err: "is missing"},
	} {
		got, err := describe(tt.family, tt.header)
		switch {
		case tt.err == "" && (err != nil || got != tt.want):
			t.Errorf("%s: %.99q, %v; want %.99q", tt.name, got, err, tt.want)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s: %v, want an error with %q", tt.name, err, tt.err)
		}
	}
}

// subrequest returns a request of a proxy.
func subrequest(trusted bool, header http.Header) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://caddy.test/asked", nil)
	r.Header = header
	return r.WithContext(context.WithValue(r.Context(), caddyhttp.VarsCtxKey, map[string]any{caddyhttp.TrustedProxyVarKey: trusted}))
}

// The described request has the method, host and target of the client's, and no
// field of either family but those that Caddy's trusted proxies send.
func TestRequest(t *testing.T) {
	for family, header := range map[string]http.Header{
		byForwarded: xForwarded("POST", "https", "a.test", "/x?y"),
		byOriginal:  xOriginal("POST", "https://a.test/x?y"),
	} {
		for name, forged := range map[string][]string{byForwarded: {"X-Original-Method: GET", "X-Original-Url: http://b.test/"}, byOriginal: {"X-Forwarded-Method: GET", "X-Forwarded-Uri: /open", "X-Forwarded-Host: b.test", "X-Forwarded-Proto: http"}} {
			if name != family {
				continue
			}
			for _, line := range append(forged, "User-Agent: GPTBot", "X-Forwarded-For: 192.0.2.7") {
				name, value, _ := strings.Cut(line, ": ")
				header.Add(name, value)
			}
		}
		r := subrequest(true, header)
		d, err := describe(family, header)
		if err != nil {
			t.Fatal(err)
		}
		got := d.request(r)
		original := got.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
		if got.Method != "POST" || got.Host != "a.test" || original.RequestURI != "/x?y" || original.Method != "POST" || original.Host != "a.test" {
			t.Errorf("%s: %s %s %s", family, got.Method, got.Host, original.RequestURI)
		}
		want := fields("User-Agent: GPTBot", "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https", "X-Forwarded-Host: a.test")
		for name := range got.Header {
			if got.Header.Get(name) != want.Get(name) || len(got.Header[name]) != 1 {
				t.Errorf("%s: %s is %q, want %q", family, name, got.Header[name], want.Get(name))
			}
		}
		if len(got.Header) != len(want) || r.Method != "GET" || r.Host != "caddy.test" || r.Header.Get("X-Forwarded-For") == "" || len(r.Header) <= len(want) {
			t.Errorf("%s: header %v; the sub-request is %s %s", family, got.Header, r.Method, r.Host)
		}
	}
}

// Whatever the fields have, a description has one method, one host, and a target
// that a request line could have; and the URI of the fields decides it alone.
func FuzzDescribe(f *testing.F) {
	f.Add("GET", "https", "a.test", "/x?y")
	f.Add("GET", "http", "a.test", "http://b.test/x")
	f.Add("PO ST", "HTTPS,http", "a.test, b.test", "")
	f.Add("GET", "http", "[::1]:80", "//x/../é%2f")
	f.Fuzz(func(t *testing.T, method, proto, host, uri string) {
		for family, header := range map[string]http.Header{
			byForwarded: {"X-Forwarded-Method": {method}, "X-Forwarded-Proto": {proto}, "X-Forwarded-Host": {host}, "X-Forwarded-Uri": {uri}},
			byOriginal:  {"X-Original-Method": {method}, "X-Original-Url": {proto + "://" + host + uri}},
		} {
			d, err := describe(family, header)
			if err != nil {
				continue
			}
			if d.method != method || d.scheme != "http" && d.scheme != "https" || strings.ContainsAny(d.host, "/?#@, \t\r\n") || strings.ContainsAny(d.target, " \t\r\n\x00\x7f") || d.target == "" {
				t.Errorf("%s: %q from %q %q %q %q", family, d, method, proto, host, uri)
			}
			if family == byForwarded && (d.target != uri || d.host != host) {
				t.Errorf("%q from %q %q", d, host, uri)
			}
			if family == byOriginal && (d.target[0] != '/' || !strings.HasSuffix(proto+"://"+host+uri, strings.TrimPrefix(d.target, "/"))) {
				t.Errorf("%q from %q", d, proto+"://"+host+uri)
			}
		}
	})
}
