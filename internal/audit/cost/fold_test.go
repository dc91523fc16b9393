package cost

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// site generates paths.
type site struct {
	*rand.Rand
	tree *Tree
	what map[string]Sum // by what the pages are
}

func newSite() *site {
	return &site{rand.New(rand.NewPCG(5, 6)), New(), make(map[string]Sum)}
}

// add adds requests for what.
func (s *site) add(what, target string, seconds float64) {
	sum := Sum{Requests: 1, Octets: int64(1000 + s.IntN(9000)), Seconds: seconds * (0.5 + s.Float64())}
	s.tree.Add("GPTBot", target, sum)
	all := s.what[what]
	all.Add(sum)
	s.what[what] = all
}

// one returns one of several words.
func (s *site) one(list string) string {
	words := strings.Fields(list)
	return words[s.IntN(len(words))]
}

// file returns the path of a file, in one of many folders.
func (s *site) file() string {
	path := ""
	for range s.IntN(4) {
		path += s.one("src docs cmd internal web js modules templates public options") + "/"
	}
	return path + s.one("main index util user config readme service model api view") + fmt.Sprint(s.IntN(30)) + s.one(".go .js .md .css .yml .ts .json .svg")
}

// forge adds pages of a forge.
func (s *site) forge(prefix string, users, repos int, between string, blame float64) {
	for range 8_000 {
		base := fmt.Sprintf("%s/user%c%c/%s%d%s/", prefix, 'a'+s.IntN(users)%26, 'a'+s.IntN(users)/26, s.one("app lib doc"), s.IntN(repos), between)
		ref := s.one("branch/main branch/main branch/main branch/develop commit/0123456789abcdef tag/v1.0")
		switch s.IntN(6) {
		case 0, 1:
			s.add("blame", base+"blame/"+ref+"/"+s.file(), blame)
		case 2, 3:
			s.add("src", base+"src/"+ref+"/"+s.file(), 0.5)
		case 4:
			s.add("raw", base+"raw/"+ref+"/"+s.file(), 0.1)
		case 5:
			s.add("commits", base+"commits/"+ref+"/"+s.file(), 1)
		}
		if s.IntN(10) == 0 {
			s.add("explore", prefix+"/explore/repos?page="+fmt.Sprint(s.IntN(100)), 0.3)
		}
	}
}

// found returns the cost of the rows whose pattern has a segment, and their patterns.
func found(rows []Row, segment string) (sum Sum, list string) {
	for _, r := range rows {
		if strings.Contains(r.Pattern+"/", "/"+segment+"/") || strings.Contains(r.Pattern, "/"+segment+"?") {
			sum.Add(r.Sum)
			list += " " + r.Pattern
		}
	}
	return sum, list
}

// The rows name what costs: a kind of page that takes 5 % of the time is in rows with its name,
// whatever varies around it.
func TestRowsNameWhatCosts(t *testing.T) {
	for name, fill := range map[string]func(*site){
		"many users":                     func(s *site) { s.forge("", 600, 3, "", 4) },
		"one user, 20 repos":             func(s *site) { s.forge("", 1, 7, "", 4) },
		"three repos":                    func(s *site) { s.forge("", 1, 1, "", 4) },
		"eight users, few repos":         func(s *site) { s.forge("", 8, 1, "", 4) },
		"30 users, few repos":            func(s *site) { s.forge("", 30, 1, "", 4) },
		"below a path":                   func(s *site) { s.forge("/git", 100, 2, "", 4) },
		"names between":                  func(s *site) { s.forge("", 100, 2, "/-", 4) },
		"pages that cost the same":       func(s *site) { s.forge("", 100, 2, "", 0.5) },
		"three repos that cost the same": func(s *site) { s.forge("", 1, 1, "", 0.5) },
		"two repos with the same files": func(s *site) {
			for i := range 6_000 {
				base, file := fmt.Sprintf("/%s/%s/", s.one("ann bob eve tom kim"), s.one("infra lib")), fmt.Sprintf("/a%d/f%d", 1000+i, s.IntN(40))
				s.add("blame", base+"blame"+file, 1)
				s.add("commits", base+"commits"+file, 1)
				s.add("raw", base+"raw"+file, 1)
			}
		},
		"one repo": func(s *site) {
			for range 6_000 {
				s.add("blame", "/app.git/blame/"+s.file(), 4)
				s.add("tree", "/app.git/tree/"+s.file(), 0.4)
				s.add("log", "/app.git/log/"+s.file(), 1)
			}
		},
		"wiki": func(s *site) {
			for i := range 6_000 {
				s.add("wiki", fmt.Sprintf("/wiki/%s_%d", s.one("File:X.jpg Talk: User: A B"), i), 0.1)
				s.add("index.php", fmt.Sprintf("/w/index.php?title=%d&action=history", i), 1)
				s.add("Special:RecentChanges", "/wiki/Special:RecentChanges", 0.3)
			}
		},
		"shop": func(s *site) {
			for i := range 6_000 {
				s.add("filter", fmt.Sprintf("/%s/%s/filter/color-%d/size-%d", s.one("shoes shirts hats"), s.one("men women kids"), i, s.IntN(9)), 2)
				s.add("product", fmt.Sprintf("/%s/product/%s-%d", s.one("en de fr es"), s.one("red blue"), i), 0.2)
				s.add("cart", fmt.Sprintf("/cart?add=%d", i), 0.3)
			}
		},
		"calendar": func(s *site) {
			for i := range 6_000 {
				s.add("day", fmt.Sprintf("/%s/calendar/day/%d/%d/%d", s.one("ann bob eve tom"), i, s.IntN(12), s.IntN(31)), 0.5)
				s.add("week", fmt.Sprintf("/%s/calendar/week/%d/%d", s.one("ann bob eve tom"), i, s.IntN(52)), 2)
				s.add("export", fmt.Sprintf("/%s/calendar/export/%d.ics", s.one("ann bob eve tom"), i), 1)
			}
		},
	} {
		s := newSite()
		fill(s)
		whole := Sum{}
		for _, sum := range s.what {
			whole.Add(sum)
		}
		rows := s.tree.Rows(0.02)
		for what, sum := range s.what {
			got, list := found(rows, what)
			if sum.Share(whole) >= 0.05 && (got.Seconds < 0.9*sum.Seconds || strings.Count(list, " ") > 12) {
				t.Errorf("%s: of %.0f s of %s, %.0f are in rows with that name:%s\n%s", name, sum.Seconds, what, got.Seconds, list, patterns(rows))
			}
		}
	}
}

// The names of repositories are folded too where nearly all requests are for one kind of pages.
func TestFoldAStormOfOneKind(t *testing.T) {
	s := newSite()
	for i := range 20_000 {
		kind := "blame"
		if i%25 == 0 {
			kind = "src"
		}
		s.add(kind, fmt.Sprintf("/%s/%s/%s/branch/main/%s", s.one("ann bob cem dan eve fay"), s.one("app docs infra lib web"), kind, s.file()), 1)
	}
	if row := s.tree.Rows(0.02)[0]; !strings.HasPrefix(row.Pattern, "/*/*/blame/") || row.Requests < 19_000 {
		t.Errorf("%s has %d requests", row.Pattern, row.Requests)
	}
}

// Queries of many parameters, as of a shop's filters, are not pages without one, and not those of all folders.
func TestFoldFilters(t *testing.T) {
	s := newSite()
	for range 20_000 {
		folder, query := s.one("shoes hats bags coats"), "sort=1"
		for _, name := range strings.Fields("brand color material page price size") {
			if s.IntN(2) == 0 {
				query += fmt.Sprintf("&%s=%d", name, s.IntN(30))
			}
		}
		s.add(folder, "/"+folder+"?"+query, 1)
		s.add("products", fmt.Sprintf("/p/name-%d", s.IntN(900)), 0.01)
	}
	rows := s.tree.Rows(0.02)
	for _, folder := range strings.Fields("shoes hats bags coats") {
		if sum, list := found(rows, folder); sum.Requests != s.what[folder].Requests || strings.Contains(list+" ", folder+" ") {
			t.Errorf("%s: %d of %d requests in%s", folder, sum.Requests, s.what[folder].Requests, list)
		}
	}
}
