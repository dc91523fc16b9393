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

// The fields that limit the requests of crawlers have the values that other suites expect.
func TestConformanceFields(t *testing.T) {
	dir, ok := corpusFolder(t)
	if !ok {
		return
	}
	passed, all := 0, 0
	for _, c := range readLines[fieldCase](t, filepath.Join(dir, "robots-fields.jsonl")) {
		got, ok := fieldOf(Parse(c.bytes(t)).Group(ProductToken(c.Agent)), c.Field)
		if !ok {
			continue
		}
		all++
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

// fieldOf returns the value of a field for a group, in the JSON form of the cases. It returns false
// for a field that is no limit.
func fieldOf(g *Group, field string) (value any, ok bool) {
	var delays, rates, visits []any
	if d, ok := g.CrawlDelay(); ok {
		delays = append(delays, d.Delay.Seconds())
	}
	for _, r := range g.RequestRates() {
		rates = append(rates, rateJSON(r))
	}
	for _, v := range g.VisitTimes() {
		from, to, _ := strings.Cut(v.Window.String(), "-")
		if field == "visit-time" {
			visits = append(visits, map[string]any{"from": from, "to": to})
		} else {
			visits = append(visits, []any{from, to})
		}
	}
	name, all := strings.CutSuffix(field, "-list")
	list, ok := map[string][]any{"crawl-delay": delays, "request-rate": rates, "visit-time": visits}[name]
	switch {
	case all:
		return list, ok
	case len(list) > 0:
		return list[0], ok
	}
	return nil, ok
}

func rateJSON(r RequestRate) any {
	m := map[string]any{"requests": float64(r.Requests), "seconds": r.Per.Seconds()}
	if !r.Window.Always() {
		m["from"], m["to"], _ = strings.Cut(r.Window.String(), "-")
	}
	return m
}
