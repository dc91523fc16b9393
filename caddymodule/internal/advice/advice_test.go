package advice

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// text returns actions as lines: where, and what is to copy or else the words.
func text(list []statusapi.Action) string {
	var lines []string
	for _, a := range list {
		if a.Text == "" {
			lines = append(lines, "- "+a.What)
			continue
		}
		lines = append(lines, a.Where+" "+strings.NewReplacer("\n\t", " ", "\n", " ").Replace(a.Text))
	}
	return strings.Join(lines, "\n")
}

// about returns facts about a crawler of the registry, at a site.
func about(kind, name string) Facts {
	return Facts{Problem: statusapi.Problem{Kind: kind, Crawler: name, Sites: []string{"a.test"}}, Row: crawler.Builtin().Lookup(name), Admin: "localhost:2020"}
}

func TestActions(t *testing.T) {
	const api = "command curl -X POST 'http://localhost:2020/robots/"
	with := func(f Facts, change func(*Facts)) Facts { change(&f); return f }
	for _, tt := range []struct {
		name  string
		facts Facts
		want  string
	}{
		{"a flood", with(about("flood", "GPTBot"), func(f *Facts) { f.Folder, f.Usual = "/shop/", 26 }),
			"caddyfile limit /shop/* { each 20/1m }\ncaddyfile policy { deny GPTBot /shop/* }"},
		{"a flood of robots that the registry does not know", Facts{Problem: statusapi.Problem{Kind: "flood", Crawler: "self-declared"}, Admin: "localhost:2020"},
			"caddyfile limit { each 10/1m }"},
		{"all robots together, on a page that does not show all sites", Facts{Problem: statusapi.Problem{Kind: "flood", Crawler: Everybody, Sites: []string{"a.test"}}},
			"caddyfile limit { all 50/1m }"},
		{"the mode was set, on a page that does not show all sites", Facts{Problem: statusapi.Problem{Actions: []statusapi.Action{{What: "Set the mode", Text: "mode?mode=configured", Where: statusapi.Command}}}},
			"- Set the mode, through the admin API"},
		{"an HTTP library", about("busy", "curl"), "caddyfile http_clients on limit { each 10/1m }\ncaddyfile policy { deny curl }"},
		{"an HTTP library that is held already", with(about("busy", "curl"), func(f *Facts) { f.Holds = []string{"library"} }), "caddyfile limit { each 10/1m }\ncaddyfile policy { deny curl }"},
		{"a search engine that nobody verifies", about("flood", "Googlebot"), "caddyfile verify\n- No limit holds search engines; a group of robots.txt that names it, with a Crawl-delay, does"},
		{"clients that only claim to be a search engine", with(about("flood", "Googlebot"), func(f *Facts) { f.Verifies = true }),
			"- No limit holds search engines; a group of robots.txt that names it, with a Crawl-delay, does"},
		{"a search engine that is refused", with(about("search_partly", "Googlebot"), func(f *Facts) { f.Line = 3 }),
			api + "mode?mode=monitor&crawler=Googlebot&site=a.test'\n- Mend line 3 of robots.txt\ncaddyfile exempt Googlebot"},
		{"a search engine that is refused, without a line", about("search_refused", "bingbot"),
			api + "mode?mode=monitor&crawler=bingbot&site=a.test'\n- Mend the line that refuses it\ncaddyfile exempt bingbot"},
		{"busy with robots", Facts{Problem: statusapi.Problem{Kind: "shedding", Crawler: Everybody}}, "caddyfile limit { all 50/1m }"},
		{"busy with browsers", Facts{Problem: statusapi.Problem{Kind: "shedding"}}, "caddyfile challenge /*"},
		{"busy with browsers, which challenge asks", Facts{Problem: statusapi.Problem{Kind: "shedding"}, Checks: true}, "- Add the paths that are requested most to the line challenge"},
		{"what a step gives", Facts{Problem: statusapi.Problem{Actions: []statusapi.Action{{Text: "shed", Where: statusapi.Caddyfile}}}}, "caddyfile shed"},
		{"a command of a step", Facts{Problem: statusapi.Problem{Sites: []string{"*.a.test", "b.test"},
			Actions: []statusapi.Action{{Text: "challenge?set=configured", Where: statusapi.Command}}}, Admin: "localhost:2020"},
			api + "challenge?set=configured&site=%2A.a.test&site=b.test'"},
		{"anything else", Facts{Problem: statusapi.Problem{Kind: "list", Advice: "Check the URL."}}, "- Check the URL."},
	} {
		if got := text(For(&tt.facts)); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// Commands have the real address of the admin endpoint.
func TestAdmin(t *testing.T) {
	for address, want := range map[Admin]string{
		"":                              "",
		"localhost:2019":                "curl -X POST 'http://localhost:2019/robots/mode?mode=monitor&site=it%27s'",
		":2020":                         "curl -X POST 'http://localhost:2020/robots/mode?mode=monitor&site=it%27s'",
		"0.0.0.0:2020":                  "curl -X POST 'http://localhost:2020/robots/mode?mode=monitor&site=it%27s'",
		"tcp/[::1]:2020":                "curl -X POST 'http://[::1]:2020/robots/mode?mode=monitor&site=it%27s'",
		"10.0.0.5:80":                   "curl -X POST 'http://10.0.0.5/robots/mode?mode=monitor&site=it%27s'",
		"unix//run/it's caddy.sock|220": `curl --unix-socket '/run/it'\''s caddy.sock' -X POST 'http://localhost/robots/mode?mode=monitor&site=it%27s'`,
		"unix/@caddy":                   "curl --abstract-unix-socket 'caddy' -X POST 'http://localhost/robots/mode?mode=monitor&site=it%27s'",
		"fd/3":                          "",
	} {
		if got := address.post("mode?mode=monitor&site=it%27s"); got != want {
			t.Errorf("%s: %s\nwant %s", address, got, want)
		}
	}
}

// Turning something off is not among the first two actions, but where a verified search
// engine is refused.
func TestNothingIsTurnedOffFirst(t *testing.T) {
	for kind := range decisions {
		for _, name := range []string{"GPTBot", "Googlebot", "curl", "self-declared", Everybody} {
			f := about(kind, name)
			list := For(&f)
			for i := range min(2, len(list)) {
				turnsOff := strings.Contains(list[i].Text, "mode=monitor") || strings.HasPrefix(list[i].Text, "exempt")
				if released := kind == "search_refused" || kind == "search_partly"; turnsOff && !released || released && turnsOff != (i == 0) {
					t.Errorf("%s of %s: action %d is %+v", kind, name, i, list[i])
				}
			}
		}
	}
}
