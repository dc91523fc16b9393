package crawler_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// corpusFile returns a file of the corpus; nil if ROBOTS_CORPUS is not set.
func corpusFile(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv("ROBOTS_CORPUS")
	if dir == "" {
		t.Log("ROBOTS_CORPUS is not set: the corpus is not tested")
		return nil
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// tableRow is a crawler of the corpus's table crawlers.json.
type tableRow struct {
	ID       string `json:"id"`
	Examples []struct {
		UA string `json:"ua"`
	} `json:"ua_examples"`
}

func table(t *testing.T) []tableRow {
	data := corpusFile(t, "crawlers.json")
	if data == nil {
		return nil
	}
	var f struct {
		Crawlers []tableRow `json:"crawlers"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f.Crawlers
}

// name returns the crawler's name in the registry.
func (r tableRow) name() string {
	if r.ID == "ExaBot" {
		return "Exa"
	}
	return r.ID
}

// otherCrawlers maps User-Agents to the ID of a row which has them although that crawler did not send them: they name it after `like`, or
// another crawler of the same operator sent them.
var otherCrawlers = map[string]string{
	"Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)": "FeedFetcher-Google",
	"TelegramBot (like TwitterBot)":                                             "Twitterbot",
	"omgilibot/0.3 +http://www.omgili.com/Crawler.html":                         "omgili",
}

func TestUserAgentsOfTheTableYieldTheirCrawlers(t *testing.T) {
	rows := table(t)
	m := crawler.Builtin().Matcher(nil)
	total, right := 0, 0
	for _, row := range rows {
		for _, e := range row.Examples {
			var id crawler.Identity
			m.Identify(e.UA, &id)
			if otherCrawlers[e.UA] == row.ID {
				continue
			}
			total++
			if slices.ContainsFunc(id.Agents(), func(a crawler.Agent) bool { return a.Crawler != nil && strings.EqualFold(a.Crawler.Name, row.name()) }) {
				right++
			} else {
				t.Errorf("%s: %q is %v", row.ID, e.UA, agents(&id))
			}
		}
	}
	t.Logf("%d of %d User-Agents yield their crawler", right, total)
}

// agents prints an identity for failure messages.
func agents(id *crawler.Identity) []string {
	var out []string
	for _, a := range id.Agents() {
		s := a.Class.String() + " " + a.Token
		if a.Crawler != nil {
			s += " (" + a.Crawler.Name + ")"
		}
		out = append(out, s)
	}
	return out
}

func TestOnlyCrawlersOfAGroupGetTheGroup(t *testing.T) {
	rows := table(t)
	if rows == nil {
		return
	}
	r := crawler.Builtin()
	for _, row := range rows {
		c := r.Lookup(row.name())
		if c == nil || c.ControlOnly {
			continue
		}
		group := c.Robots[0]
		m := r.Matcher([]string{group, "*"})
		for _, other := range rows {
			oc := r.Lookup(other.name())
			obeys := slices.ContainsFunc(oc.Robots, func(s string) bool { return strings.EqualFold(s, group) })
			for _, e := range other.Examples {
				if otherCrawlers[e.UA] == other.ID {
					continue
				}
				var id crawler.Identity
				m.Identify(e.UA, &id)
				got := false
				for _, a := range id.Agents() {
					got = got || hasGroup(a, group)
				}
				want := obeys
				for _, a := range id.Agents() { // a User-Agent that names several crawlers gets the groups of all of them
					want = want || id.Len() > 1 && a.Crawler != oc && hasGroup(a, group)
				}
				if got != want {
					t.Errorf("group %q applies to %q of %s: %v, want %v (%v)", group, e.UA, oc.Name, got, want, agents(&id))
				}
			}
		}
	}
}

// hasGroup reports whether an agent obeys the group with that token, in a file whose only other group is `*`.
func hasGroup(a crawler.Agent, group string) bool {
	if strings.EqualFold(a.Token, group) {
		return true
	}
	return a.Crawler != nil && slices.ContainsFunc(a.Crawler.Robots, func(s string) bool { return strings.EqualFold(s, group) })
}

// Others collected the lists of the corpus, and the lists have mistakes: python-requests is among the browsers, word processors are among the
// robots. So a small share may be wrong.
func TestErrorRatesOnLists(t *testing.T) {
	for _, c := range []struct {
		file string
		ok   func(m measure) bool
	}{
		{"useragents-bots.txt", func(m measure) bool { return m.share(crawler.Person) <= 0.022 }},
		{"useragents-browsers.txt", func(m measure) bool {
			return m.share(crawler.Person) >= 0.999 && m.share(crawler.Person, crawler.Library, crawler.Program) >= 0.9998
		}},
		{"useragents-apps.txt", func(m measure) bool {
			return m.share(crawler.Person) >= 0.98 && m.share(crawler.Person, crawler.Library, crawler.Program) >= 0.995
		}},
	} {
		data := corpusFile(t, c.file)
		if data == nil {
			return
		}
		sum := measureList(data, func(ua string, id *crawler.Identity) {
			wrong := id.Class() == crawler.Person
			if c.file != "useragents-bots.txt" {
				wrong = !wrong
			}
			if wrong {
				t.Logf("%s: %v %.160q", c.file, agents(id), ua)
			}
		})
		t.Logf("%s: %v", c.file, sum)
		if !c.ok(sum) {
			t.Errorf("%s: %v", c.file, sum)
		}
	}
}

func TestDeclaredCrawlersAreNotPeople(t *testing.T) {
	data := corpusFile(t, "useragents-bots.txt")
	if data == nil {
		return
	}
	declared, missed := 0, 0
	measureList(data, func(ua string, id *crawler.Identity) {
		if !crawler.DeclaresRobot(ua) {
			return
		}
		declared++
		if id.Class() == crawler.Person {
			missed++
			t.Logf("%.160q", ua)
		}
	})
	if declared < 1000 || missed*1000 > declared {
		t.Errorf("%d of %d User-Agents that declare a crawler count as people, want at most 1 in 1000", missed, declared)
	}
}

// measure counts the classes of the User-Agents in a list.
type measure map[crawler.Class]int

// share returns the share of User-Agents that have one of the classes.
func (m measure) share(classes ...crawler.Class) float64 {
	part, total := 0, 0
	for class, n := range m {
		if total += n; slices.Contains(classes, class) {
			part += n
		}
	}
	return float64(part) / float64(max(total, 1))
}

// measureList identifies each line of a list, up to a TAB.
func measureList(list []byte, each func(ua string, id *crawler.Identity)) measure {
	m, sum := crawler.Builtin().Matcher(nil), measure{}
	var id crawler.Identity
	for line := range strings.Lines(string(list)) {
		ua, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		m.Identify(ua, &id)
		sum[id.Class()]++
		each(ua, &id)
	}
	return sum
}
