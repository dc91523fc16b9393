package crawler_test

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func TestEachTokenFindsItsCrawler(t *testing.T) {
	r := crawler.Builtin()
	m := r.Matcher(nil)
	for c := range r.All() {
		for _, token := range c.Tokens() {
			for _, ua := range []string{
				token,
				token + "/1.0",
				strings.ToUpper(token) + "/1.0",
				strings.ReplaceAll(token, " ", "+") + "/1.0",
				"Mozilla/5.0 (compatible; " + token + "/1.0; +http://example.com/)",
				"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; " + token + "/1.0)",
			} {
				var id crawler.Identity
				m.Identify(ua, &id)
				found := false
				for _, a := range id.Agents() {
					found = found || a.Crawler == c && a.Class == c.Class
				}
				if app := c.Class == crawler.App; app && id.Len() > 0 {
					t.Errorf("%s: %q is %v, want a person", c.Name, ua, agents(&id))
				} else if !found && !app && c.Class != crawler.Library { // people's clients send names of libraries too
					t.Errorf("%s: %q is %v", c.Name, ua, agents(&id))
				}
			}
			if r.Lookup(token) == nil {
				t.Errorf("Lookup(%q) = nil", token)
			}
		}
	}
}

// builtinRows returns the rows of the built-in registry with their sources.
func builtinRows(t *testing.T) []crawler.Crawler {
	t.Helper()
	data, err := os.ReadFile("registry.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := crawler.ReadRows(data)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestRegistryInvariants(t *testing.T) {
	r := crawler.Builtin()
	if r.Len() < 249 {
		t.Errorf("%d crawlers, want at least 249", r.Len())
	}
	purposes, rows := map[crawler.Purpose]bool{}, builtinRows(t)
	for i := range r.Len() {
		c := r.At(i)
		if c.Index() != i {
			t.Errorf("%s: Index() = %d, want %d", c.Name, c.Index(), i)
		}
		if r.Lookup(c.Name) != c {
			t.Errorf("Lookup(%q) is another crawler", c.Name)
		}
		if c.Operator == "" || (c.Purpose() == "") != (c.Class == crawler.App) {
			t.Errorf("%s: operator or purpose is empty", c.Name)
		}
		for _, p := range c.Purposes {
			purposes[p] = true
		}

		// each fact has a source or is in Unverified
		for field, known := range map[string]bool{
			"user_agents": len(c.Tokens()) > 0,
			"robots":      c.Class != crawler.App,
			"star":        c.Star != crawler.Unknown,
			"crawl_delay": c.CrawlDelay != crawler.Unknown,
			"reads":       c.ReadsGoogle,
			"run_by":      c.RunBy != "",
			"lacks":       c.LacksWildcards || c.LacksAllow,
			"verify":      len(c.Verify.Hosts)+len(c.Verify.Ranges) > 0,
		} {
			if known && len(rows[i].Sources[field]) == 0 && !slices.Contains(c.Unverified, field) {
				t.Errorf("%s: %s has no source and is not marked as unverified", c.Name, field)
			}
		}

		for field := range rows[i].Sources {
			purpose, ok := strings.CutPrefix(field, "purposes.")
			if ok && slices.Contains(c.Purposes, crawler.Purpose(purpose)) {
				continue
			}
			if _, err := crawler.ReadRows(fmt.Appendf(nil, `{"name":"Acme","unverified":[%q]}`, field)); err != nil {
				t.Errorf("%s: sources: %v", c.Name, err)
			}
		}
		if _, err := time.Parse(time.DateOnly, cmp.Or(c.Checked, "2026-11-21")); err != nil {
			t.Errorf("%s: checked: %v", c.Name, err)
		}

		// only Google's crawlers use google/robotstxt
		if c.ReadsGoogle && c.Operator != "Google" {
			t.Errorf("%s of %s has reads \"google\"", c.Name, c.Operator)
		}

		// most specific first: Googlebot-Image before Googlebot
		for j, general := range c.Robots {
			for _, special := range c.Robots[j+1:] {
				if strings.HasPrefix(strings.ToLower(special), strings.ToLower(general)) {
					t.Errorf("%s: %q is before %q, want the more specific one first", c.Name, general, special)
				}
			}
		}

		// a crawler falls back to groups of its own operator, unless a document says otherwise (Apple, Kagi)
		for _, token := range c.Robots[1:] {
			if o := r.Lookup(token); o != nil && !strings.Contains(o.Operator, c.Operator) && slices.Contains(c.Unverified, "robots") {
				t.Errorf("%s of %s falls back to %s of %s", c.Name, c.Operator, token, o.Operator)
			}
		}

		// every row has a robots.txt token, also of a crawler that ignores robots.txt
		if len(c.Robots) == 0 {
			t.Errorf("%s: robots is empty", c.Name)
		}
		if c.ControlOnly && len(c.Tokens()) > 0 {
			t.Errorf("%s is control_only and has User-Agent tokens", c.Name)
		}

		// domains for forward-confirmed reverse DNS
		for _, h := range c.Verify.Hosts {
			if h != strings.ToLower(h) || strings.HasPrefix(h, ".") || !strings.Contains(h, ".") || h == "googleusercontent.com" {
				t.Errorf("%s: %q is not a domain of crawlers only, in lower case", c.Name, h)
			}
		}
		for _, u := range c.Verify.Ranges {
			if !strings.HasPrefix(u, "https://") && !strings.HasPrefix(u, "http://www.facebook.com/") {
				t.Errorf("%s: the address list %q is not https", c.Name, u)
			}
		}
	}
	if len(purposes) > 30 {
		t.Errorf("%d purposes, want at most 30", len(purposes))
	}
}

// thirdParty are parts of sources that are not the operator's: lists of crawlers
// that others keep.
var thirdParty = regexp.MustCompile(`^https://github\.com/(ai-robots-txt|arcjet|monperrus|AnTheMaker|CIDRAM|alaz|tn3w|JohnPaton|matomo-org/device-detector)/|^the stored copy of a list|(darkvisitors|knownagents)\.com`)

// A fact that only third parties state is marked, and only the operator's own
// word says whether a crawler obeys `*`.
func TestFactsOfThirdPartiesAreMarked(t *testing.T) {
	for _, c := range builtinRows(t) {
		for field, sources := range c.Sources {
			if slices.ContainsFunc(sources, func(s string) bool { return !thirdParty.MatchString(s) }) {
				continue
			}
			if field == "star" {
				t.Errorf("%s: star rests on %q alone", c.Name, sources)
			} else if !slices.Contains(c.Unverified, field) {
				t.Errorf("%s: %s rests on %q alone and is not marked as unverified", c.Name, field, sources)
			}
		}
		if c.Star != crawler.Unknown && slices.Contains(c.Unverified, "star") {
			t.Errorf("%s: star is unverified, so it must be unknown", c.Name)
		}
	}
}

// A crawler with several purposes has a source for each but the main one, whose
// source is that of the field. A crawler of a search engine counts as search only.
func TestSeveralPurposes(t *testing.T) {
	for _, c := range builtinRows(t) {
		for _, p := range c.Purposes[min(1, len(c.Purposes)):] {
			if len(c.Sources["purposes."+string(p)]) == 0 || len(c.Sources["purposes"]) == 0 {
				t.Errorf("%s: no source says that it crawls for %s", c.Name, p)
			}
		}
		for _, p := range c.Purposes {
			if want := p == crawler.Search || !slices.Contains(c.Purposes, crawler.Search); c.CountsAs(p) != want {
				t.Errorf("%s: CountsAs(%s) = %v, want %v", c.Name, p, !want, want)
			}
		}
		if c.CountsAs("elephants") {
			t.Errorf("%s counts as a purpose that it does not have", c.Name)
		}
	}
}

func TestLookup(t *testing.T) {
	r := crawler.Builtin()
	for in, want := range map[string]string{
		"googlebot":    "Googlebot", // a name, in another case
		"AwarioBot":    "Awario",    // a User-Agent token
		"whatsapp":     "WhatsApp",
		"Yandex":       "YandexBot", // a robots.txt token of several crawlers: the first that has it
		"Yahoo! Slurp": "Slurp",
	} {
		if c := r.Lookup(in); c == nil || c.Name != want {
			t.Errorf("Lookup(%q) = %v, want %s", in, c, want)
		}
	}
	if c := r.Lookup("no such crawler"); c != nil {
		t.Errorf("an unknown name finds %s", c.Name)
	}
}

func TestWithAddsAndReplacesRows(t *testing.T) {
	base := crawler.Builtin()
	acme := crawler.Crawler{Name: "Acme", Operator: "Acme Corp.", Purposes: []crawler.Purpose{"shopping"}, Class: crawler.Registered,
		UserAgents: []string{"AcmeBot", "Acme Price Finder"}, Robots: []string{"AcmeBot"}}
	r, err := base.With(acme)
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() != base.Len()+1 || base.Lookup("Acme") != nil {
		t.Errorf("With changed its receiver, or added %d rows instead of 1", r.Len()-base.Len())
	}
	if got := identify(r.Matcher(nil), "Acme Price Finder 2"); !slices.Equal(got, []string{"crawler Acme Price Finder"}) {
		t.Errorf("an added crawler is identified as %q", got)
	}

	gpt := *base.Lookup("GPTBot")
	gpt.CrawlDelay = crawler.Yes
	if r, err = base.With(gpt); err != nil {
		t.Fatal(err)
	}
	if c := r.Lookup("GPTBot"); r.Len() != base.Len() || c.CrawlDelay != crawler.Yes || c.Index() != base.Lookup("GPTBot").Index() {
		t.Errorf("a replaced crawler: %d rows, %+v", r.Len(), c)
	}

	for _, c := range []struct {
		row  crawler.Crawler
		want string
	}{
		{crawler.Crawler{Class: crawler.Registered}, `name is empty`},
		{crawler.Crawler{Name: "X", UserAgents: []string{"X"}, Robots: []string{"X"}}, `crawler "X": a crawler of the registry can't have class "person"`},
		{crawler.Crawler{Name: "X", Class: crawler.Registered, Robots: []string{"X"}}, `user_agents is empty`},
		{crawler.Crawler{Name: "X", Class: crawler.Registered, UserAgents: []string{"X"}}, `robots is empty`},
		{crawler.Crawler{Name: "X", Class: crawler.Registered, UserAgents: []string{"Chrome"}, Robots: []string{"X"}}, `browsers send the word "Chrome"`},
		{crawler.Crawler{Name: "X", Class: crawler.Registered, UserAgents: []string{"Internet Explorer"}, Robots: []string{"X"}}, `browsers send the word`},
		{crawler.Crawler{Name: "X", Class: crawler.Registered, UserAgents: []string{"GPTBot"}, Robots: []string{"X"}}, `"GPTBot" already belongs to crawler "GPTBot"`},
		{crawler.Crawler{Name: "X", Class: crawler.Registered, UserAgents: []string{"xy", "XY"}, Robots: []string{"X"}}, `"XY" is listed twice`},
		{crawler.Crawler{Name: "X", Class: crawler.Registered, UserAgents: []string{" x"}, Robots: []string{"X"}}, `" x" is not valid`},
		{crawler.Crawler{Name: "X", Class: crawler.Registered, UserAgents: []string{strings.Repeat("x", 101)}, Robots: []string{"X"}}, `has 101 octets: the limit is 100`},
		{crawler.Crawler{Name: "X", Class: crawler.Registered, ControlOnly: true, UserAgents: []string{"x"}, Robots: []string{"X"}}, `control_only`},
	} {
		if _, err := base.With(c.row); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("With(%+v): %v, want %q", c.row, err, c.want)
		}
	}
	if _, err := base.With(acme, acme); err == nil {
		t.Error("two rows with one name are accepted")
	}
}

func TestReadRows(t *testing.T) {
	rows, err := crawler.ReadRows([]byte("\ufeff" + `# our own crawlers

{"name":"AcmeBot","operator":"Acme","purposes":["shopping"],"star":"no","crawl_delay":"yes","verify":{"hosts":["acme.example"]}}
{"name":"Acme Reader","class":"user-triggered","user_agents":["AcmeReader-Fetch"],"shared":["AcmeReader"],"robots":["AcmeReader"]}
{"name":"Acme-Extended","control_only":true,"robots":["Acme-Extended"]}
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 || rows[0].UserAgents[0] != "AcmeBot" || rows[0].Robots[0] != "AcmeBot" || rows[0].Star != crawler.No || rows[0].CrawlDelay != crawler.Yes ||
		rows[1].Class != crawler.UserTriggered || rows[1].Shared[0] != "AcmeReader" || !rows[2].ControlOnly {
		t.Errorf("read %+v", rows)
	}
	if _, err := crawler.Builtin().With(rows...); err != nil {
		t.Error(err)
	}

	if c := crawler.Builtin().Lookup("meta-externalagent"); !slices.Contains(c.Unverified, "verify") {
		t.Error("a list of Meta's that may not be complete refutes claims")
	}

	for in, want := range map[string]string{
		"\n{\"name\":":                            "line 2: parsing the row as JSON",
		`{"name":"X","colour":"red"}`:             `line 1: parsing the row as JSON: json: unknown field "colour"`,
		`{"name":"X"} {"name":"Y"}`:               "line 1: text follows the closing brace",
		`{"name":"X","class":"robot"}`:            `line 1: crawler "X": class: unknown class "robot"`,
		`{"name":"X","star":"maybe"}`:             `line 1: crawler "X": star: unknown value "maybe"`,
		`{"name":"X","crawl_delay":"5"}`:          `line 1: crawler "X": crawl_delay`,
		`{"name":"X","lacks":["sitemap"]}`:        `line 1: crawler "X": lacks: unknown value "sitemap"`,
		`{"name":"X","reads":"bing"}`:             `line 1: crawler "X": reads: unknown value "bing"`,
		`{"name":"Firefox"}`:                      `line 1: crawler "Firefox": user_agents: browsers send the word "Firefox"`,
		`{"name":"Acme","unverified":["colour"]}`: `unverified: unknown field "colour"`,
		`[]`: "line 1: parsing the row as JSON",
	} {
		if _, err := crawler.ReadRows([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadRows(%q): %v, want %q", in, err, want)
		}
	}
}

func FuzzReadRows(f *testing.F) {
	f.Add([]byte(`{"name":"AcmeBot","operator":"Acme","purposes":["shopping"],"star":"no"}`))
	f.Add([]byte("# comment\n\n{\"name\":\"a\",\"control_only\":true,\"robots\":[\"a\"]}\n"))
	f.Add([]byte(`{"name":"` + strings.Repeat("x", 200) + `"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := crawler.ReadRows(data)
		if err != nil || len(rows) == 0 {
			return
		}
		c := rows[0]
		if c.Name == "" || len(c.Robots) == 0 || c.Class == crawler.Person {
			t.Errorf("%q yields %+v", data, c)
		}
		if r, err := crawler.Builtin().With(c); err == nil && r.Lookup(c.Name) == nil {
			t.Errorf("Lookup does not find %q, which was added", c.Name)
		}
	})
}

func TestParseClassIsTheInverseOfString(t *testing.T) {
	for c := crawler.Person; c <= crawler.Library; c++ {
		if got, err := crawler.ParseClass(c.String()); got != c || err != nil {
			t.Errorf("ParseClass(%q) = %v, %v", c, got, err)
		}
	}
	if _, err := crawler.ParseClass("robot"); err == nil {
		t.Error("an unknown class is accepted")
	}
}
