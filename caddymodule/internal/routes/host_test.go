package routes

import (
	"fmt"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// The index has the routes that a request for a host may enter, in their order. If a
// route hands requests on, the next ones may match another host.
func TestHostIndex(t *testing.T) {
	var list caddyhttp.RouteList
	for i, hosts := range [][]string{{"A.test", "b.test"}, {"*.test"}, {"b.test"}, {"::1"}, {"{http.vars.host}.test"}, nil, {"a.test"}} {
		route := hostRoute(hosts)
		route.Terminal, route.Group = true, fmt.Sprint(i)
		list = append(list, route)
	}
	groups := func(host string) (text string) {
		for _, route := range IndexHosts(list).For(host) {
			text += route.Group
		}
		return text
	}
	for host, want := range map[string]string{"a.test": "013456", "a.TEST:8080": "013456", "b.test": "012345", "[::1]:80": "1345", "other.test": "1345", "": "1345"} {
		if got := groups(host); got != want {
			t.Errorf("host %q: routes %s, want %s", host, got, want)
		}
	}
	list[3].Terminal = false
	if got := groups("a.test"); got != "0123456" {
		t.Errorf("a route hands requests on: routes %s", got)
	}
}
