package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Report is the result of an audit. `caddy robots audit --json` prints its JSON
// form. The JSON names are stable: new versions only add fields.
//
// Strings from logs, robots.txt files and DNS were written by strangers. They are in
// the report unchanged, apart from octets that are not UTF-8 and from what is masked.
// Escape them before you show them.
//
// Lists are never nil, so that they are [] in JSON.
type Report struct {
	// Findings has the answers that the report opens with, in the order of the codes at
	// Finding.Code. It is empty if there are no requests.
	Findings []Finding `json:"findings"`
	// Summary has the most important results, in English, one or two sentences per
	// element. Programs find the figures in WouldHave, People and Period.
	Summary []string `json:"summary"`

	// Lines is the number of lines read: Requests + Unreadable + Other.
	Lines int64 `json:"lines"`
	// Unreadable is the number of lines that could not be read as a request.
	Unreadable int64 `json:"unreadable"`
	// Other is the number of lines that are not requests of clients: empty lines,
	// log lines of Caddy that are not from an access
	// log, connections without an HTTP request, fetches of robots.txt by Caddy itself
	// (enforce.FetcherUserAgent), and requests for hosts that Options.Hosts leaves out.
	Other int64 `json:"other"`
	// Requests is the number of requests.
	Requests int64 `json:"requests"`
	// People is the number of requests with the User-Agent of a browser or of an app
	// that people use. Robots that send such a User-Agent are included.
	People int64 `json:"people"`
	// Robots is the number of all other requests: Requests - People.
	Robots int64 `json:"robots"`
	// Addresses is the number of different client addresses.
	Addresses int64 `json:"addresses"`
	// Period has the times of the first and the last request.
	Period Period `json:"period"`

	// WouldHave says what enforcing robots.txt would have done with the requests.
	WouldHave WouldHave `json:"would_have"`
	// Costs says what the requests cost, and which paths robots fetched for that.
	Costs Costs `json:"costs"`
	// Tables has what is said of each crawler, path, robots.txt, host and log: what the fields
	// below without a name in JSON have.
	Tables []*Table `json:"sections"`

	// Crawlers is ordered by Requests, most first. If there are too many that are not in the
	// registry, one row with Rest set has the others of a class.
	Crawlers []*Crawler `json:"-"`
	// Sources are the robots.txt files that requests were judged by, ordered by site
	// and time. It is empty if no robots.txt is known.
	Sources []*Source `json:"-"`
	// Hosts is ordered by Requests, most first. It is empty if the log has no hosts.
	Hosts []*Host `json:"-"`
	// Inputs are the files that were read, in the order of their first requests.
	Inputs []Input `json:"-"`
	// UnreadableExamples are the first unreadable lines, at most 10.
	UnreadableExamples []UnreadableExample `json:"-"`
	// UnreadableReasons counts the unreadable lines by reason, most first.
	UnreadableReasons []Count `json:"-"`

	// Warnings say which figures are not reliable, and why.
	Warnings []Warning `json:"warnings"`

	// Strangers has the pages that lone addresses with browsers' User-Agents requested.
	Strangers Strangers `json:"-"`

	// Suggestions are changes that would have saved costs, the best first, at most 10.
	// Suggested says more about all of them. Both are empty, or nil, unless package
	// suggest looked for changes.
	Suggestions []Suggestion `json:"suggestions"`
	Suggested   *Suggested   `json:"suggested,omitempty"`

	// Decided says what Caddy decided; nil without Options.Decided, and with it what would
	// have been is left out.
	*Decided

	// Against compares the verdicts with those of another configuration or of other
	// robots.txt files; nil without Options.Against.
	Against *Against `json:"against,omitempty"`

	// Verified is true if crawlers were verified.
	Verified bool `json:"verification"`
	// Masked is true if client addresses and the values of queries are masked.
	Masked bool `json:"masked"`
	// Estimated is true if some numbers of addresses are estimates: large ones are.
	Estimated bool `json:"estimated"`
}

// WouldHave says what enforcing the rules would have done with the requests.
type WouldHave struct {
	// Known is true if a robots.txt was known for at least one site. Otherwise the
	// other figures are 0 and mean nothing.
	Known bool `json:"known"`
	// Judged is the number of requests for which a robots.txt was known.
	Judged int64 `json:"judged"`
	// Refused is Denied + Throttled.
	Refused int64 `json:"refused"`
	// Denied is the number of requests that would have got 403, or 404 by a hidden
	// rule. Throttled is the number of those that would have got 429.
	Denied    int64 `json:"denied"`
	Throttled int64 `json:"throttled"`
	// Browsers is the part of Refused whose User-Agent is that of a browser or app. A
	// group of robots.txt names a word in it.
	Browsers int64 `json:"browsers"`
	// Search is the number of refused requests of search engines, without those of
	// impostors. SearchVerified is the number of those that come from verified
	// addresses.
	Search         int64 `json:"search"`
	SearchVerified int64 `json:"search_verified"`
}

// Count is the number of requests for one name.
type Count struct {
	Name     string `json:"name"`
	Requests int64  `json:"requests"`
}

// Warning says which figures are not reliable, and why.
type Warning struct {
	// Code identifies the warning. New versions may add codes, and so may
	// Options.Warnings.
	//
	//   - coarse_times: times are exact to a second or worse, so short delays are not judged
	//   - cut_input: a file ends too early or is damaged
	//   - few_addresses: addresses are few or private, so they seem to be a proxy's
	//   - many_names: unknown robots that came last are counted together
	//   - masked_addresses: addresses are masked, hashed or names
	//   - no_hosts: all requests are judged as those of one site
	//   - no_robots: no robots.txt is known, so no request is judged
	//   - no_strangers: pages of lone addresses are not counted, at least those of some hosts
	//   - no_zone: times have no time zone and were read as UTC
	//   - own_fetches: fetches of robots.txt by Caddy are not counted as requests
	//   - partly_timed: the log has the durations of some requests alone
	//   - partly_judged: no robots.txt is known for the host or time of some requests
	//   - sampled: the log seems to have only a part of the requests
	//   - step_unknown: what a step of the configuration would have done can't be told from a log
	//   - verify_failed: neither published lists nor DNS answered
	//   - verify_incomplete: some addresses of crawlers were not looked up
	//   - verify_old: the log is more than three days old, but the published lists are today's
	Code string `json:"code"`
	Text string `json:"text"`
}

// Suggested has the changes that package suggest proposes.
type Suggested struct {
	// Hosts are the hosts of the site, for the site block; empty if they are not known.
	Hosts []string `json:"hosts"`
	// Together is what the Suggestions that do not ask clients would have saved if all of them had
	// been in force.
	Together Saved `json:"together"`
	// Whole is what all requests to the site cost.
	Whole cost.Sum `json:"whole"`
	// Notes say why a kind of suggestion is missing, or why there is none.
	Notes []string `json:"notes"`
}

// Saved is what a change would have saved: the requests that would have been refused
// and were not refused without it.
type Saved struct {
	cost.Sum
	// Share is the part of the whole costs, from 0 to 1: of the time if the log has
	// durations, else of the requests or the octets.
	Share float64 `json:"share"`
}

// Words returns it in words.
func (s Saved) Words() string {
	text := requests(s.Requests) + ", " + words.Octets(s.Octets)
	if s.Seconds > 0 {
		text += ", " + words.Seconds(s.Seconds)
	}
	if s.Share > 0 {
		text += fmt.Sprintf(" (%.0f %%)", 100*s.Share)
	}
	return text
}

// Suggestion is a change that would have saved costs.
type Suggestion struct {
	Kind string `json:"kind"` // the name of the step
	Text string `json:"text"` // one or several lines, for the robots block
	Why  string `json:"why"`  // what the change is for, in one sentence
	Saved
	// Asks says that it asks clients to show that they are browsers, and Asked how many addresses it
	// would have asked besides those that it would have held.
	Asks  bool  `json:"asks"`
	Asked int64 `json:"asked,omitempty"`
	// Once says that a block has one line of this kind.
	Once bool `json:"-"`
	// Crawlers are the crawlers that the change is about, if it names them.
	Crawlers []string `json:"crawlers"`
	// Addresses is the number of different addresses whose requests it would have refused.
	Addresses int64 `json:"addresses"`
}

// report returns the report of the audit.
func (a *auditor) report() (*Report, error) {
	r := &a.result
	r.Sources, r.Suggestions, r.Masked = []*Source{}, []Suggestion{}, !a.options.Full
	r.Strangers.Paths, r.Strangers.Asked = []StrangerPath{}, []Asked{}
	r.Costs.Patterns = []cost.Row{}
	r.Verified = slices.ContainsFunc(a.sites, func(s *site) bool { return s.Rules.Verification != nil })
	a.inputs.report(r)
	r.Costs.Timed = r.Requests - r.Costs.All.Untimed
	r.Robots = r.Costs.Robots.Requests
	r.People = r.Requests - r.Robots
	r.Addresses = a.reliability.addresses.Count()
	r.Estimated = r.Addresses > exactHashes
	for _, s := range a.sites {
		r.Sources = append(r.Sources, s.lines[0].sources...)
	}
	r.WouldHave.Known = len(r.Sources) > 0
	r.Crawlers = a.crawlers.report()
	if a.decided != nil {
		if !a.inputs.decided {
			return nil, errUndecided
		}
		r.Decided = a.decided.report(a.rows)
	} else {
		a.rows.sum(&r.WouldHave)
		a.strangers.report(r, a.reliability.hides(r.Requests))
		r.Costs.Patterns = append(r.Costs.Patterns, a.paths.Rows(leastShare)...)
		r.Costs.addLone(r.Strangers.Paths)
	}
	r.Hosts = a.hosts.report()
	for _, s := range r.Sources {
		s.report()
		if a.decided == nil {
			s.setLines(a.rows)
		}
	}
	if a.options.Against {
		r.Against = a.compare()
	}
	r.Warnings = a.warnings(r)
	r.Summary, r.Findings, r.Tables = a.summary(r), a.findings(r), r.tables()
	return r, nil
}

// requests returns a number of requests in words.
func requests(n int64) string { return words.Plural(n, "request", "requests") }

// summary returns the sentences of Report.Summary.
func (a *auditor) summary(r *Report) (list []string) {
	switch {
	case r.Decided != nil:
		return []string{a.decidedSummary(r)}
	case r.Requests == 0:
		return []string{"There are no requests in this log."}
	}
	say := func(necessary bool, format string, args ...any) {
		if necessary {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	n, w, when := words.Count[int64], &r.WouldHave, ""
	if r.Period.From != nil {
		when = days(*r.Period.From, *r.Period.To) + ": "
	}
	search := fmt.Sprintf("%s of search engines", n(w.Search))
	if r.Verified && w.Search > 0 {
		search += fmt.Sprintf(", %s of them verified", n(w.SearchVerified))
	} else if w.Search > 0 {
		search += ", by their own claim"
	}
	say(r.Robots == 0, "%sNo client identified itself as a robot.", when)
	say(r.Robots > 0 && w.Judged == 0, "%s%s of %s requests are from clients that identify themselves as robots. "+
		"No robots.txt is known for them, so the report cannot say which of them it would have refused.", when, n(r.Robots), n(r.Requests))
	known := ""
	if w.Judged < r.Requests {
		known = ", as far as a robots.txt is known for them"
	}
	say(r.Robots > 0 && w.Judged > 0, "%s%s of %s requests from clients that identify themselves as robots would have been refused (%s)%s.",
		when, n(w.Refused), n(r.Robots), search, known)
	say(w.Browsers > 0, "%s with User-Agents of browsers or apps would have been refused, because a group of robots.txt names a word in them.",
		requests(w.Browsers))
	unaffected := r.People
	for _, a := range r.Strangers.Asked {
		unaffected -= a.pages
	}
	say(r.People > 0, "%s with browsers' User-Agents would not be affected. Robots that send such a User-Agent are included.",
		requests(unaffected))
	pages, row := &a.strangers.dearest, r.dearestPath()
	say(r.isDear(pages.Pages) && (row == nil || row.Pattern != pages.Pattern), "Of the pages with browsers' User-Agents, those of %s cost %s: %s.", r.placeOf(pages), r.Costs.most(), r.parts(pages.Pages))
	return append(list, "Requests that a CDN or a cache answered are not in this log.")
}

// MayBeOwn reports whether the crawler may be a client of the operator: it has no
// purpose that is known, or fetches for a person, and sent at least 10 requests, from
// one or two addresses.
func (c *Crawler) MayBeOwn() bool {
	switch c.class {
	case crawler.SelfDeclared, crawler.UserTriggered, crawler.Library, crawler.Program, crawler.Named:
	case crawler.Registered: // of the configuration, without a purpose
		if len(c.Purposes) > 0 {
			return false
		}
	default:
		return false
	}
	return !c.Rest && c.Requests >= 10 && c.Addresses <= 2
}

// most returns the robot with the largest figure; nil if all are 0. Health checks and monitors
// are the operator's own.
func (r *Report) most(figure func(*Crawler) float64) (most *Crawler) {
	for _, c := range r.Crawlers {
		if n := figure(c); !c.Rest && c.class != crawler.Probe && n > 0 && (most == nil || n > figure(most)) {
			most = c
		}
	}
	return most
}

// dearest returns the robot that costs most, if that is a tenth of everything, and 100
// requests; else nil.
func (r *Report) dearest() *Crawler {
	if c := r.most(func(c *Crawler) float64 { return c.Share(r.Costs.All) }); c != nil && r.isDear(c.Sum) {
		return c
	}
	return nil
}

// isDear reports whether something costs so much that a report names it.
func (r *Report) isDear(s cost.Sum) bool { return s.Requests >= blamed && s.Share(r.Costs.All) >= dear }

// dearestPath returns the path that costs most, under the same conditions.
func (r *Report) dearestPath() *cost.Row {
	if len(r.Costs.Patterns) == 0 || !r.isDear(r.Costs.Patterns[0].Sum) {
		return nil
	}
	return &r.Costs.Patterns[0]
}

// Dear returns the robots that the finding of costs is about, or would be if others cost less: those that
// cost a tenth of everything, and the one that costs most at the path that costs most.
func (r *Report) Dear() (list []*Crawler) {
	row := r.dearestPath()
	for _, c := range r.Crawlers {
		if !c.Rest && (r.isDear(c.Sum) || row != nil && row.Clients[0].Name == c.Name) {
			list = append(list, c)
		}
	}
	return list
}

// From which number of requests, and part of all costs, on a finding names what costs.
const (
	blamed = 100
	dear   = 0.1
)

// parts returns a cost in words, with the parts of all costs.
func (r *Report) parts(s cost.Sum) string {
	text := fmt.Sprintf("%s (%.0f %% of all), %s (%.0f %%)", requests(s.Requests), percent(s.Requests, r.Costs.All.Requests),
		words.Octets(s.Octets), percent(s.Octets, r.Costs.All.Octets))
	if r.Costs.All.Seconds > 0 {
		text += fmt.Sprintf(", %s (%.0f %%)", words.Seconds(s.Seconds), 100*s.Seconds/r.Costs.All.Seconds)
		if r.Costs.Untimed() != "" {
			text = strings.TrimSuffix(text, ")") + " of the time that is known)"
		}
	}
	return text
}

func percent(n, of int64) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// days returns a period in words.
func days(from, to time.Time) string {
	const full = "2 January 2006"
	switch {
	case from.Format(full) == to.Format(full):
		return from.Format(full)
	case from.Year() == to.Year() && from.Month() == to.Month():
		return fmt.Sprintf("%d–%s", from.Day(), to.Format(full))
	}
	return from.Format(full) + "–" + to.Format(full)
}
