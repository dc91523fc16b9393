package statusapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestScope(t *testing.T) {
	some := Sites("A.test.", "*.b.test")
	for _, tt := range []struct {
		name  string
		scope Scope
		site  string
		want  bool
	}{
		{"the zero value has no site", Scope{}, "a.test", false},
		{"all sites", AllSites(), "a.test", true},
		{"names are compared in lower case and without the final dot", some, "a.test", true},
		{"another site", some, "c.test", false},
		{"a pattern is a site", some, "*.b.test", true},
		{"a pattern does not stand for its hosts", some, "x.b.test", false},
		{"all sites narrowed", AllSites().Only("c.test"), "c.test", true},
		{"all sites narrowed to others", AllSites().Only("c.test"), "a.test", false},
		{"no names do not narrow", some.Only(), "a.test", true},
		{"a scope is never widened", some.Only("c.test"), "c.test", false},
		{"a scope that is narrowed to nothing", some.Only("c.test"), "a.test", false},
	} {
		if got := tt.scope.Site(tt.site); got != tt.want {
			t.Errorf("%s: Site(%q) is %t", tt.name, tt.site, got)
		}
	}
	if s := Sites("*.b.test"); !s.Host("*.b.test", "x.b.test") || s.Host("a.test", "a.test") {
		t.Error("Host does not go by the site of the host")
	}
	if s := Sites("x.b.test"); !s.Host("*.b.test", "x.b.test") || s.Host("*.b.test", "y.b.test") {
		t.Error("Host does not find a host of a pattern")
	}
	if some.All() || !AllSites().All() || AllSites().Only("a.test").All() {
		t.Error("All is wrong")
	}
}

func TestUnknownSite(t *testing.T) {
	many := new(fakeReporter)
	for i := range 1000 {
		many.sites = append(many.sites, fmt.Sprintf("s%d.test", i))
	}
	for _, tt := range []struct {
		name     string
		reporter *fakeReporter
		scope    Scope
		sites    []string
		want     string // the end of the message
	}{
		{"no such site", newFakeReporter(), AllSites(), []string{"c.test"}, `site="c.test" is not the name of a site with a robots handler: the sites are *.b.test, a.test`},
		{"one of two", newFakeReporter(), AllSites(), []string{"a.test", "c.test"}, `: the sites are *.b.test, a.test`},
		{"an empty name", newFakeReporter(), AllSites(), []string{""}, `: the sites are *.b.test, a.test`},
		{"sites outside the scope are not named", newFakeReporter(), Sites("a.test"), []string{"x.b.test"}, ": the sites are a.test"},
		{"no sites", new(fakeReporter), AllSites(), []string{"a.test"}, ": there are no sites"},
		{"many sites", many, AllSites(), []string{"a.test"}, "s18.test, s19.test and 980 more"},
	} {
		err := checkSites(tt.reporter, tt.scope, tt.sites)
		e, ok := err.(*Error)
		if !ok || e.Status != http.StatusNotFound || !strings.HasSuffix(e.Message, tt.want) {
			t.Errorf("%s: %v, want the end %q", tt.name, err, tt.want)
		}
	}
	if err := checkSites(newFakeReporter(), AllSites(), []string{strings.Repeat("x", 1<<20)}); err == nil || len(err.Error()) > 300 {
		t.Errorf("the message for a long name is too long: %.400v", err)
	}
}
