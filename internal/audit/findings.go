package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/snippet"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Finding answers one of the questions that the report opens with. What harms comes
// first. worst_half_hour and search_refused are in every report that has requests.
type Finding struct {
	// Code identifies the question.
	//
	//   - proxied: clients of the log are proxies, if they seem to be; it is the first finding
	//   - too_few: what the log has too few people for, if anything; it is the first one else
	//   - search_refused: which search engines would have been refused, and by which lines
	//   - probes_refused: which health checks and monitors would have been refused, if any
	//   - own_clients_refused: which clients that may be the operator's would have been, if any
	//   - worst_half_hour: which crawler sent so many requests in half an hour that it harms, and when
	//   - disguised: which pages robots with browsers' User-Agents seem to request, if any
	//   - fleet: which User-Agent opened pages that others hardly want, if one did
	//   - costs: which robot and which paths cost most, if that is much
	Code string `json:"code"`
	Text string `json:"text"` // the answer, in English
	// Change says what to change, and where; "" if nothing should change.
	Change string `json:"change,omitempty"`
	// Paste is the text for that place; "" if there is none. It never disallows
	// anything to a search engine, and never exempts a crawler that is not verified.
	Paste string `json:"paste,omitempty"`
}

// findings returns the findings of a report.
func (a *auditor) findings(r *Report) []Finding {
	if r.Requests == 0 || r.Decided != nil {
		return []Finding{}
	}
	list := []Finding{a.searchRefused(r)}
	add := func(f Finding) {
		if f.Text != "" {
			list = append(list, f)
		}
	}
	add(r.refused("probes_refused", "Health checks and monitors would have been refused, so that a balancer may take the server out of service",
		"Exempt them from the rules, with their names and addresses, in the robots block of the Caddyfile: exempt NAME from ADDRESS.",
		func(c *Crawler) bool { return c.class == crawler.Probe }))
	add(r.refused("own_clients_refused", "Clients that may be your own, because each came from one or two addresses, would have been refused",
		"If one is yours, exempt it, with its addresses, in the robots block of the Caddyfile: exempt NAME from ADDRESS. "+
			"A name that is not that of a known crawler needs a block too: crawler NAME, with the line user_agents NAME.",
		(*Crawler).MayBeOwn))
	add(r.worstHalfHour())
	lonely := r.lonely()
	disguised := Finding{Code: "disguised", Text: strings.Join(slices.Concat(lonely, r.asked()), " ")}
	if len(r.Strangers.Asked) == 0 {
		disguised.Change = "Robots.txt can't refuse them. Run this command again with --suggest: if they stormed paths, it proposes a line for these, " +
			"with what that would have held, and how many others it would have asked once."
	}
	add(disguised)
	add(r.fleet())
	add(Finding{Code: "costs", Text: strings.Join(r.costs(), " "),
		Change: "To see which changes would have saved how much, run this command again with --suggest."})
	slices.SortStableFunc(list, func(a, b Finding) int { return min(len(b.Change), 1) - min(len(a.Change), 1) })
	if r.Strangers.Few { // before what it is about
		list = slices.Insert(list, 0, Finding{Code: "too_few", Text: a.strangers.tooFew()})
	}
	if f := r.proxied(&a.reliability); f.Text != "" {
		list = slices.Insert(list, 0, f)
	}
	return list
}

// refused returns a finding about the selected crawlers that would have been refused, with
// the numbers of requests; one without a text if there is none.
func (r *Report) refused(code, text, change string, selects func(*Crawler) bool) Finding {
	var who []string
	for _, c := range r.Crawlers {
		if n := c.Denied + c.Throttled; n > 0 && selects(c) {
			who = append(who, fmt.Sprintf("%s (%s of %s)", cmp.Or(c.Name, "no User-Agent"), words.Count(n), requests(c.Requests)))
		}
	}
	if len(who) == 0 {
		return Finding{}
	}
	return Finding{Code: code, Text: text + ": " + words.List(who, 5) + ".", Change: change} // clients can invent names
}

// costs returns sentences about what costs much.
func (r *Report) costs() (list []string) {
	most := r.Costs.most()
	if c := r.dearest(); c != nil {
		text := fmt.Sprintf("Of all robots, %s cost %s: %s", cmp.Or(c.Name, "clients without a User-Agent"), most, r.parts(c.Sum))
		if n := c.Denied + c.Throttled; n > 0 {
			text += fmt.Sprintf("; the rules refuse %s of these", words.Count(n))
		}
		list = append(list, text+".")
	}
	if row := r.dearestPath(); row != nil {
		who := "robots"
		if r.Costs.Lone.Requests > 0 {
			who += " and lone addresses"
		}
		list = append(list, fmt.Sprintf("Of what %s requested, %s cost %s: %s.", who, row.Pattern, most, r.parts(row.Sum)))
	}
	return list
}

// fleet names a User-Agent that opened pages which others hardly want, as the watch of a server does; a
// finding without a text if there is none.
func (r *Report) fleet() (f Finding) {
	one := r.Strangers.Fleet
	if one == nil {
		return f
	}
	paths, what := strings.Join(one.Patterns, " "), "a fleet of robots, whatever else it fetches, or people who follow one link"
	if one.Clients < LeastFleet {
		what = "a robot, or people behind " + words.Plural(int64(one.Clients), "address", "addresses")
	}
	f.Code = "fleet"
	f.Text = fmt.Sprintf("The User-Agent %s opened about %s of %s, and hardly any others, while others hardly want these: %s.",
		strconv.QuoteToASCII(one.Agent), words.Plural(r.Strangers.FleetPages, "page", "pages"), paths, what)
	switch {
	case one.Clients < LeastFleet:
		f.Change = "If it is nobody you know, refuse its addresses in the firewall."
	case len(r.Strangers.Asked) == 0: // else the site has a line challenge
		f.Change = "If they are robots, write this line into the robots block of the Caddyfile. While they open more than 60 pages a minute, it asks " +
			"all with this User-Agent there, also those that fetch style sheets and images. To see what that would have saved, run this command again " +
			"with --suggest."
		f.Paste = "challenge " + paths
	}
	return f
}

// LeastFleet is the number of addresses from which on a fleet is asked, and not refused by its addresses.
const LeastFleet = 20

// ProposedRate is the rate of each crawler, in requests a minute, that the proposed
// limit allows.
const ProposedRate = 30

// IsFlooded reports whether a limit is proposed for the worst half hour.
func (r *Report) IsFlooded() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Code == "worst_half_hour" && f.Paste != "" })
}

// worstHalfHour says which crawler sent most requests in half an hour.
func (r *Report) worstHalfHour() Finding {
	f := Finding{Code: "worst_half_hour"}
	who := r.most(func(c *Crawler) float64 { return float64(c.WorstHalfHour) })
	switch {
	case who == nil && r.Robots > 0 && r.Period.From == nil:
		f.Text = "The worst half hour is not known: the log has no times."
		return f
	case who == nil && r.Robots == 0:
		f.Text = "No flood under a robot's name: none came."
		return f
	case who == nil:
		f.Text = "No flood under a robot's name: none came but health checks and monitors."
		return f
	case who.WorstHalfHour <= 30*ProposedRate:
		f.Text = fmt.Sprintf("No flood under a robot's name: none sent more than %s in half an hour.", requests(who.WorstHalfHour))
		return f
	}
	from := time.Unix(0, who.worst.start*int64(30*time.Minute)).UTC()
	f.Text = fmt.Sprintf("The worst half hour began on %s UTC: %s sent %s, %s a minute.", from.Format("2 January 2006 at 15:04"),
		cmp.Or(who.Name, "clients without a User-Agent"), requests(who.WorstHalfHour), words.Count(who.WorstHalfHour/30))
	switch {
	case 2*(who.Denied+who.Throttled) >= who.Requests:
		f.Change = "Enforce the rules as they are: they refuse most of what this robot requests."
	case who.isSearch() || who.row != nil && who.row.CountsAs(crawler.Ads):
		f.Change = "Do not refuse it: search engines and advertisers that get errors come less often for days. Set a slower " +
			"rate in its tools for webmasters."
	case who.class == crawler.UserTriggered || who.class >= crawler.Webhook: // and programs and libraries
		f.Change = "Find out who it is before you limit it: clients of an API and people's tools send this User-Agent too."
	default:
		f.Change = fmt.Sprintf("Limit each crawler to %d requests a minute. Search engines, people and probes are not held. "+
			"In the robots block of the Caddyfile:", ProposedRate)
		f.Paste = fmt.Sprintf("limit {\n\teach %d/1m\n}", ProposedRate)
	}
	return f
}

// noAlarm returns what search engines are refused besides, for good reasons.
func noAlarm(requests int64) string {
	if requests == 0 {
		return ""
	}
	return " Not counted: " + words.Plural(requests, "refused request", "refused requests") +
		" of impostors, or faster than a group that names the crawler allows."
}

// searchRefused says which search engines would have been refused, and by which lines.
func (a *auditor) searchRefused(r *Report) Finding {
	f := Finding{Code: "search_refused"}
	var who, refused, verified []string
	var engines []*Crawler
	var more int64 // refused, and no alarm
	for _, t := range r.Crawlers {
		if !t.isSearch() {
			continue
		}
		n := t.VerifiedRefused + t.ClaimsRefused
		more += t.Denied + t.Throttled - n
		who = append(who, fmt.Sprintf("%s (%s, %s verified)", t.Name, requests(t.Requests), words.Count(t.Verified)))
		if n > 0 {
			engines = append(engines, t)
			refused = append(refused, fmt.Sprintf("%s of %s (%s verified)", words.Count(n), t.Name, words.Count(t.VerifiedRefused)))
		}
		if t.VerifiedRefused > 0 {
			verified = append(verified, snippet.Name(t.Name))
		}
	}
	switch {
	case r.WouldHave.Judged == 0:
		f.Text = "Search engines: not known, because no robots.txt is known."
	case len(who) == 0:
		f.Text = "Search engines: none is in this log."
	case len(engines) == 0:
		f.Text = "Search engines: no request would have been refused. They are " + words.List(who, 5) + "." + noAlarm(more)
	}
	if len(engines) == 0 {
		return f
	}
	f.Text = "Search engines: these requests would have been refused: " + words.List(refused, 5)
	places, named := a.linesRefusing(engines)
	if len(places) > 0 {
		f.Text += "; by " + words.List(places, 3)
	}
	f.Text += "." + noAlarm(more)
	switch {
	case named && len(places) > 0:
		f.Change = "These groups name the search engines, so this seems to be meant. If not, delete these lines."
	case len(verified) > 0:
		f.Change = "If these pages should be found, exempt the verified search engines from the rules. In the robots block of the Caddyfile:"
		f.Paste = "verify\nexempt " + strings.Join(verified, " ")
	case a.claims != nil && !a.claims.worked.Load():
		f.Change = "No crawler could be verified, because neither the published lists nor DNS answered: run this command again when they do."
	case r.Verified:
		f.Text += " None of these clients is verified, so this harms no search engine that is known: change nothing for them."
	default:
		f.Change = "Anybody can call themselves a search engine: before you change anything, run this command again with --verify."
	}
	return f
}

// linesRefusing returns the lines that would have refused requests of search engines, with
// their numbers, most first. named is true if the groups of all of them name the engines.
func (a *auditor) linesRefusing(engines []*Crawler) (list []string, named bool) {
	named = true
	places := make(counter)
	for _, row := range a.rows {
		own := row.Group != "*" && row.layer == judge.FileLayer
		paced := row.reason.Info().Field != "" && own // this is no alarm
		if row.source == nil || row.action == judge.Pass || paced || !slices.Contains(engines, row.client) {
			continue
		}
		named = named && own
		place := row.Place()
		if len(a.result.Sources) > 1 && row.layer == judge.FileLayer {
			place = strings.Replace(place, "robots.txt", row.source.Name, 1)
		}
		places[place] += row.Requests
	}
	for _, c := range places.top(maxNames) {
		list = append(list, c.Name+": "+words.Count(c.Requests))
	}
	return list, named
}

// asked returns sentences about what lines that ask strangers would have done.
func (r *Report) asked() (list []string) {
	for _, a := range r.Strangers.Asked {
		list = append(list, fmt.Sprintf("By `%s`, %s of %s that requested nothing else would not have been answered, and %s would have been asked once.",
			a.Line, words.Plural(a.Requests, "page", "pages"), words.Plural(a.Addresses, "address", "addresses"),
			words.Plural(a.Others, "other address", "other addresses")))
	}
	return list
}

// placeOf returns the pattern of a path, with its host if the log has several.
func (r *Report) placeOf(p *StrangerPath) string {
	if len(r.Hosts) > 1 {
		return p.Host + p.Pattern
	}
	return p.Pattern
}

// lonely returns sentences about the paths that mostly lone addresses requested.
func (r *Report) lonely() (list []string) {
	for _, p := range r.Strangers.Paths {
		if p.IsLonely() && len(list) < saidPaths {
			least := ""
			if p.isLate {
				least = "At least "
			}
			list = append(list, fmt.Sprintf("%s%s of %s for %s with browsers' User-Agents came from addresses that requested nothing else.",
				least, words.Count(p.Lone.Requests), requests(p.Pages.Requests), r.placeOf(&p)))
		}
	}
	return list
}

// tooFew says why it is not certain which addresses are lone.
func (s *strangers) tooFew() string {
	what := "no browser read more than two pages of a host in this log."
	if s.few.all > 0 {
		what = fmt.Sprintf("only %s of browsers read more than two pages of a host in this log, and %d fetched images, styles or scripts.",
			words.Plural(s.few.all, "version", "versions"), s.few.with)
	}
	return "Too few to tell for certain: " + what +
		" Where people's browsers fetch images, styles and scripts from another host, addresses that requested nothing else may be people."
}

// doubt says why it is not known which addresses are lone at hosts that matter, and which of their paths
// costs most; "" if it is known.
func (r *Report) doubt(s *strangers) string {
	paths, isDear := "", r.isDear(s.dearest.Pages)
	if isDear {
		paths = fmt.Sprintf(" Those of %s cost %s: %s. If people do not request them that often, write the line challenge for these paths.",
			r.placeOf(&s.dearest), r.Costs.most(), r.parts(s.dearest.Pages))
	}
	if !(s.isDoubtful && isDear) && (r.Strangers.Known || s.pages < lonelyRequests) {
		return ""
	}
	const unknown = "It is not known whether people or robots request pages with browsers' User-Agents: "
	switch {
	case s.elsewhere.all > 0:
		return unknown + fmt.Sprintf("of %s of browsers that read several pages, %d fetched images, styles or scripts from these hosts. "+
			"It takes more than half of them.%s", words.Plural(s.elsewhere.all, "version", "versions"), s.elsewhere.with, paths)
	case s.cached.all > 0:
		return unknown + fmt.Sprintf("of %s to which a browser came from others of the site, %s are those of addresses that fetched no images, "+
			"styles or scripts. Browsers may have these in their caches.%s", words.Plural(s.cached.all, "page", "pages"), words.Count(int64(s.cached.with)), paths)
	}
	return ""
}
