package proposal

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
		Hosts: []string{"example.com", "*.example.com"}, Root: "/var/www", PHP: true, Backends: []string{"unix//run/php/php-fpm.sock"},
		TrustedProxies: true, AgentMatchers: []string{"*bot*", "(?i)gptbot|ccbot"}, Tags: []string{"noindex"},
	}, {
		Robots: true, TrustedProxies: true, Backends: []string{"a:1", "b:2", "a:3"},
	}, {
		Hosts: []string{"internal"}, TrustedProxies: true, Plain: true, Backends: []string{"c:1"},
		AgentMatchers: []string{`{http.request.header.User-Agent}.contains("bot")`},
	}}
	if !reflect.DeepEqual(sites, want) {
		t.Errorf("read\n%+v\nwant\n%+v", sites, want)
	}
	for i, open := range []bool{true, true, false} {
		if sites[i].Open() != open {
			t.Errorf("%s: open %v, want %v", sites[i].Name(), sites[i].Open(), open)
		}
	}
	if _, err := Read([]byte("{")); err == nil {
		t.Error("half a configuration was read")
	}
}
