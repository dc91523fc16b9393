package allsites

import (
	"os"
	"reflect"
	"testing"
)

func TestRead(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/commands/init.json")
	if err != nil {
		t.Fatal(err)
	}
	sites, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []Site{{
		Hosts: []string{"example.com", "*.example.com"}, Root: "/var/www", Roots: 1,
		TrustedProxies: true, Port: 443,
	}, {
		Robots: true, TrustedProxies: true, Port: 443,
	}, {
		Hosts: []string{"internal"}, TrustedProxies: true, Plain: true, Port: 8080}}
	if !reflect.DeepEqual(sites, want) {
		t.Errorf("read\n%+v\nwant\n%+v", sites, want)
	}
	for i, open := range []bool{true, true, false} {
		if sites[i].Open() != open {
			t.Errorf("%s: Open returns %v, want %v", sites[i].Name(), sites[i].Open(), open)
		}
	}
	if _, err := Read([]byte("{")); err == nil {
		t.Error("no error for incomplete JSON")
	}
}

// The URL of a site follows from its server as Caddy's automatic HTTPS decides.
func TestSiteURL(t *testing.T) {
	const route = `,"routes":[{"match":[{"host":["a.test"]}]}]`
	for _, tt := range []struct{ name, app, server, want string }{
		{"the HTTPS port", ``, `"listen":[":443"]` + route, "https://a.test"},
		{"the HTTP port", ``, `"listen":[":80"]` + route, "http://a.test"},
		{"another port, with automatic HTTPS", ``, `"listen":[":8443"]` + route, "https://a.test:8443"},
		{"another port, without it for this host", ``, `"listen":[":8080"],"automatic_https":{"skip":["a.test"]}` + route, "http://a.test:8080"},
		{"automatic HTTPS is off", ``, `"listen":[":8443"],"automatic_https":{"disable":true}` + route, "http://a.test:8443"},
		{"a connection policy", ``, `"listen":["127.0.0.1:8443"],"tls_connection_policies":[{}],"automatic_https":{"disable":true}` + route, "https://a.test:8443"},
		{"other standard ports", `"http_port":8080,"https_port":8443,`, `"listen":[":8080"]` + route, "http://a.test:8080"},
		{"another HTTPS port, any host", `"http_port":8080,"https_port":8443,`, `"listen":[":8443"],"routes":[{}]`, "https://localhost:8443"},
		{"any host", ``, `"listen":[":8080"],"routes":[{}]`, "http://localhost:8080"},
		{"a wildcard", ``, `"listen":[":443"],"routes":[{"match":[{"host":["*.a.test"]}]}]`, "https://www.a.test"},
		{"a placeholder", ``, `"listen":[":443"],"routes":[{"match":[{"host":["{env.HOST}","b.test"]}]}]`, "https://b.test"},
		{"an IPv6 address", ``, `"listen":[":443"],"routes":[{"match":[{"host":["::1"]}]}]`, "https://[::1]"},
		{"an IPv6 address and a port", ``, `"listen":[":8443"],"routes":[{"match":[{"host":["::1"]}]}]`, "https://[::1]:8443"},
		{"a range of ports", ``, `"listen":[":8443-8450"]` + route, "https://a.test:8443"},
		{"a socket, then a port", ``, `"listen":["unix//run/caddy.sock",":8443"]` + route, "https://a.test:8443"},
		{"a socket only", ``, `"listen":["unix//run/caddy.sock"]` + route, "https://a.test"},
	} {
		sites, err := Read([]byte(`{"apps":{"http":{` + tt.app + `"servers":{"srv0":{` + tt.server + `}}}}}`))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := sites[0].URL(sites[0].Host()); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestSitesThatOnlyRedirect(t *testing.T) {
	site := func(handlers string) bool {
		t.Helper()
		sites, err := Read([]byte(`{"apps":{"http":{"servers":{"s":{"listen":[":80"],"routes":[{"handle":[` + handlers + `]}]}}}}}`))
		if err != nil || len(sites) != 1 {
			t.Fatalf("%v, %v", sites, err)
		}
		return sites[0].Redirects
	}
	const redirect = `{"handler":"static_response","status_code":302,"headers":{"Location":["https://example.com{http.request.uri}"]}}`
	for handlers, want := range map[string]bool{
		redirect: true,
		`{"handler":"subroute","routes":[{"handle":[{"handler":"headers"},` + redirect + `]}]}`: true,
		redirect + `,{"handler":"file_server"}`:                                                 false,
		`{"handler":"static_response","body":"page"}`:                                           false,
		`{"handler":"headers"}`:                                                                 false,
	} {
		if got := site(handlers); got != want {
			t.Errorf("%s: %v", handlers, got)
		}
	}
}
