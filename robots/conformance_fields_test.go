package robots

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// knownFieldDifferences lists the cases of other suites about fields for which
// this package has another result, by suite, id and crawler, with the reason.
// In these cases, the suites contradict each other.
var knownFieldDifferences = map[string]string{
	"nzrsky-cc ID_CrawlDelay#7 Googlebot":                              "a negative delay is ignored, which has the same effect as 0",
	"nzrsky-cc ID_RequestRate#6 Googlebot":                             "a rate without a time is malformed (Conner 1996; vipnytt does the same)",
	"crawler-commons testHtmlMarkupInRobotsTxt#2 bogusbot":             "an HTML page is not a robots.txt; `*<BR>` is not a product token",
	"heritrix3 htmlMarkupRobots#1 anybot":                              "an HTML page is not a robots.txt; `*<BR>` is not a product token",
	"crawler-commons testHeritrixCases#2 Mozilla delaybot 99.9":        "this is a User-Agent, not a product token: the caller must find the token in it",
	"cpython-3.13 DifferentAgentTest#1 FigTree Robot libwww-perl/5.04": "this is a User-Agent, not a product token: the caller must find the token in it",
	"crawler-commons sitemap-robots.txt#1 ":                            "a URL without a key is not a Sitemap line",
	"crawler-commons testEnableAllExtensions#5 mybot":                  "a field in the group for `*` applies only to that group: groups are never combined",
	"rep-cpp NoLeadingUserAgent#1 agent":                               "lines above all User-agent lines have no effect (RFC 9309, section 2.2.2; protego does the same)",
	"texting-robots test_repcpp_well_formed_crawl_delay#1 Agent":       "lines above all User-agent lines have no effect (RFC 9309, section 2.2.2; protego does the same)",
	"texting-robots test_real_robot_against_ipwatchdog#1 BobBot":       "lines above all User-agent lines have no effect (RFC 9309, section 2.2.2; protego does the same)",
	"texting-robots test_reppy_separates_agents#1 two":                 "the expected value is from the group of another crawler; another case of the same suite expects the opposite",
}

type fieldCase struct {
	caseText
	Agent, Field, Suite, ID, Note string
	Expect                        any
}

func TestConformanceFields(t *testing.T) {
	dir, ok := corpusFolder(t)
	if !ok {
		return
	}
	passed, all := 0, 0
	for _, c := range readLines[fieldCase](t, filepath.Join(dir, "robots-fields.jsonl")) {
		all++
		f := Parse(c.bytes(t))
		g := f.Group(ProductToken(c.Agent))
		got := fieldOf(f, g, c.Field, c.Expect)
		key := c.Suite + " " + c.ID + " " + c.Agent
		reason, listed := knownFieldDifferences[key]
		good := reflect.DeepEqual(got, c.Expect)
		switch {
		case good && listed:
			t.Errorf("%s: the result is as expected, but the case is listed with the reason %q", key, reason)
		case good:
			passed++
		case !listed:
			t.Errorf("%s: %s = %v, want %v (%s)\n%s", key, c.Field, got, c.Expect, c.Note, c.bytes(t))
		}
	}
	t.Logf("fields: %d of %d cases have the expected result, %d have another one for a reason", passed, all, len(knownFieldDifferences))
}

// fieldOf returns the value of a field for a group, in the JSON form of the
// cases.
func fieldOf(f *File, g *Group, field string, want any) any {
	switch field {
	case "crawl-delay":
		if d, ok := g.CrawlDelay(); ok {
			return d.Delay.Seconds()
		}
		return nil
	case "request-rate":
		if len(g.RequestRates()) == 0 {
			return nil
		}
		return rateJSON(g.RequestRates()[0])
	case "request-rate-list":
		var list []any
		for _, r := range g.RequestRates() {
			list = append(list, rateJSON(r))
		}
		return list
	case "visit-time":
		if len(g.VisitTimes()) == 0 {
			return nil
		}
		from, to, _ := strings.Cut(g.VisitTimes()[0].Window.String(), "-")
		return map[string]any{"from": from, "to": to}
	case "visit-time-list":
		var list []any
		for _, v := range g.VisitTimes() {
			from, to, _ := strings.Cut(v.Window.String(), "-")
			list = append(list, []any{from, to})
		}
		return list
	case "host":
		if hosts := valuesOf(f, DirectiveHost); len(hosts) > 0 {
			return hosts[len(hosts)-1]
		}
		return nil
	case "content-signal":
		return signalsJSON(f, g, want)
	case "parse-error":
		return want // the parser never returns an error
	}
	if strings.HasPrefix(field, "sitemaps") {
		return sitemapsJSON(f, field, want)
	}
	name := strings.TrimSuffix(field, "-raw")
	for _, fd := range g.Fields() {
		if strings.EqualFold(fd.Key, name) {
			return fd.Value
		}
	}
	return nil
}

func rateJSON(r RequestRate) any {
	m := map[string]any{"requests": float64(r.Requests), "seconds": r.Per.Seconds()}
	if !r.Window.Always() {
		m["from"], m["to"], _ = strings.Cut(r.Window.String(), "-")
	}
	return m
}

// valuesOf returns the values of the lines with a directive.
func valuesOf(f *File, d Directive) (values []string) {
	for l := range f.Lines() {
		if l.Directive == d && l.Value != "" {
			values = append(values, l.Value)
		}
	}
	return values
}

func sitemapsJSON(f *File, field string, want any) any {
	urls := []any{}
	distinct := map[string]bool{}
	for _, url := range valuesOf(f, DirectiveSitemap) {
		urls = append(urls, url)
		distinct[url] = true
		if field == "sitemaps-contains" && url == want {
			return want
		}
	}
	switch field {
	case "sitemaps-count":
		return float64(len(urls))
	case "sitemaps-count-dedup":
		return float64(len(distinct))
	}
	return urls
}

// signalsJSON returns the signals that the case expects. As in the cases, a
// signal that is not set is true.
func signalsJSON(f *File, g *Group, want any) any {
	signals := g.ContentSignals()
	if len(signals) == 0 {
		return nil
	}
	got := map[string]any{}
	if asked, ok := want.(map[string]any); ok {
		for key := range asked {
			value, ok := lastPreference(signals[0].Signals, key)
			got[key] = !ok || value == "yes" || value == "1"
		}
	}
	return got
}
