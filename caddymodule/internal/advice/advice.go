// Package advice decides what an operator can do about a trouble: in words, and as a
// command or lines to copy. The first action is the recommended one. Turning something off
// is never among the first two, but where a verified search engine is refused.
//
//	facts := advice.Facts{Problem: statusapi.Problem{Kind: "flood", Crawler: "GPTBot", Folder: "/shop/"}, Row: row}
//	advice.For(&facts)[0].Text // limit /shop/* { each 10/1m }
//
// No text has what a client sent, but for the names of folders, which are escaped.
package advice

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/snippet"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Everybody is the Problem.Crawler for all robots together.
const Everybody = "all"

// Facts are a problem and what is known about it. The Crawler is "" for
// browsers. If the problem has Actions already, the
// Text of a command is a route of the admin API with its query.
type Facts struct {
	statusapi.Problem
	Row      *crawler.Crawler // the crawler's row of the registry; nil for others
	Hosts    []string         // that share a block with others, which no line may touch; none if Sites have their block alone
	Verifies bool             // the setting verify is on
	Holds    []string         // classes of programs that settings hold to robots.txt
	Checks   bool             // the setting challenge is on
	Admin    Admin            // "" where the operator may not see it
}

// decisions are by Problem.Kind: those for which the problem alone does not say what can be done.
var decisions = map[string]func(*Facts) []statusapi.Action{
	"flood": (*Facts).hold, "busy": (*Facts).hold, "shedding": (*Facts).hold,
	"search_refused": (*Facts).release, "search_partly": (*Facts).release,
}

// For returns what the operator can do, the recommended action first.
func For(f *Facts) []statusapi.Action {
	if f.Actions != nil {
		return words.Map(f.Actions, f.complete)
	}
	if decide := decisions[f.Kind]; decide != nil {
		return decide(f)
	}
	return []statusapi.Action{inWords(f.Advice)}
}

func inWords(what string) statusapi.Action { return statusapi.Action{What: what} }

func lines(what, text string) statusapi.Action {
	return statusapi.Action{What: what, Text: text, Where: statusapi.Caddyfile}
}

// command returns an action with a command for a route and its query, or in words alone where
// there is none.
func (f *Facts) command(what, route string) statusapi.Action {
	for _, site := range f.Sites {
		route += "&site=" + url.QueryEscape(site)
	}
	if text := f.Admin.post(route); text != "" {
		return statusapi.Action{What: what, Text: text, Where: statusapi.Command}
	}
	return inWords(what + ", through the admin API")
}

func (f *Facts) isSearch() bool { return f.Row != nil && f.Row.CountsAs(crawler.Search) }

// The least rates that hold a crawler, and all of them together, in a minute.
const (
	leastEach = 10
	leastAll  = 60
)

// limit returns a limit that holds the crawler, whatever the configuration has.
func (f *Facts) limit() statusapi.Action {
	below, rate := snippet.Below(f.Folder), "each "+snippet.Rate(max(leastEach, f.Usual)).String()
	each := rate
	what, before := "Limit how often each crawler comes, whatever its name", ""
	if len(f.Hosts) > 0 {
		each += "\n\thosts " + strings.Join(f.Hosts, " ")
	}
	class := f.Crawler
	if f.Row != nil {
		class = f.Row.Class.String()
	}
	isUnheld := func(of crawler.Class) bool { return class == of.String() && !slices.Contains(f.Holds, class) }
	switch {
	case f.Crawler == Everybody:
		all := "all " + snippet.Rate(max(leastAll, f.Usual)).String() + strings.TrimPrefix(each, rate)
		return lines("Limit what crawlers request together", snippet.Limit(below, all))
	case len(f.Hosts) > 0 && (isUnheld(crawler.Library) || isUnheld(crawler.Program)):
		return inWords("To hold HTTP libraries or programs at " + words.List(f.Hosts, 3) + " alone, give it a site block of its own")
	case isUnheld(crawler.Library):
		what, before = "Hold HTTP libraries as crawlers, and limit how often each address comes", "http_clients on\n"
	case isUnheld(crawler.Program):
		what, before = "Hold programs as crawlers, and limit how often each address comes", "programs on\n"
	}
	return lines(what, before+snippet.Limit(below, each))
}

// hold is about too many requests.
func (f *Facts) hold() []statusapi.Action {
	if f.Crawler == "" { // of browsers: a limit of crawlers would not help
		if f.Checks {
			return []statusapi.Action{inWords("Add the paths that are requested most to the line challenge")}
		}
		return []statusapi.Action{lines("Let browsers show once that they are browsers, without a click, while strangers storm", "challenge /*")}
	}
	if f.isSearch() {
		mend := inWords("No limit holds search engines; a group of robots.txt that names it, with a Crawl-delay, does")
		if f.Verifies || len(f.Hosts) > 0 {
			return []statusapi.Action{mend}
		}
		return []statusapi.Action{lines("Refuse whoever only claims to be it", "verify"), mend}
	}
	list := []statusapi.Action{f.limit()}
	if f.Row != nil && len(f.Hosts) == 0 {
		name, below := snippet.Name(f.Row.Name), snippet.Below(f.Folder)
		list = append(list, lines("Deny it these paths, in robots.txt too", snippet.Deny(name, below...)))
	}
	return list
}

// monitor returns the action that refuses a crawler nothing any more.
func (f *Facts) monitor() statusapi.Action {
	return f.command("Let it pass until Caddy loads its configuration again: set the mode monitor for "+f.Crawler,
		"mode?mode=monitor&crawler="+url.QueryEscape(f.Crawler))
}

// release is about a verified search engine that is refused.
func (f *Facts) release() []statusapi.Action {
	list := []statusapi.Action{f.monitor(), f.mendLine()}
	if f.Admin == "" { // who reads this can't send it
		slices.Reverse(list)
	}
	if len(f.Hosts) > 0 {
		return list
	}
	return append(list, lines("Never refuse it where its claim is verified", "exempt "+snippet.Name(f.Crawler)))
}

func (f *Facts) mendLine() statusapi.Action {
	if f.Line == 0 {
		return inWords("Mend the line that refuses it")
	}
	return inWords(fmt.Sprintf("Mend line %d of robots.txt", f.Line))
}

// complete completes an action that the problem has already.
func (f *Facts) complete(a statusapi.Action) statusapi.Action {
	if a.Where != statusapi.Command {
		return a
	}
	return f.command(a.What, a.Text)
}

// Effect says what a mode that was set does: all is monitored, or all but some crawlers, or
// nothing is, or only some crawlers are.
func Effect(monitor bool, except []string) string {
	switch names := words.List(except, 5); {
	case names == "" && monitor:
		return "no requests are refused, because the mode was set to monitor"
	case names == "":
		return "requests are refused, because the mode was set to enforce"
	case monitor:
		return "only requests of " + names + " are refused, because the mode of all others was set to monitor"
	default:
		return "no requests of " + names + " are refused, because their mode was set to monitor"
	}
}
