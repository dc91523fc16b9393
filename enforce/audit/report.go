package audit

import "time"

// Report is what an audit found out. Its JSON form is what
// `caddy robots audit --json` prints; the names are stable, and fields are only
// ever added. All strings that come from logs, robots.txt files or DNS are
// strangers' text: Report has them as they came (apart from octets that are no
// UTF-8, and apart from masking), and whoever shows them must escape them.
//
// Lists are never nil, so that they are [] in JSON, and are ordered as their
// comments say.
type Report struct {
	// Summary is the statement at the top, one sentence an element: only what
	// the data can carry. WouldHave, People and Period have its figures.
	Summary []string `json:"summary"`

	// Lines is the number of lines read. Lines = Requests + Unreadable + Other.
	Lines int64 `json:"lines"`
	// Unreadable is the number of lines that could not be read as a request.
	Unreadable int64 `json:"unreadable"`
	// Other is the number of lines that are no requests by design: empty ones,
	// directives of the W3C format, log lines of Caddy that are about something
	// else, connections that sent no HTTP request, and fetches of robots.txt by
	// Caddy itself (enforce.FetcherUserAgent).
	Other int64 `json:"other"`
	// Requests is the number of requests that were read.
	Requests int64 `json:"requests"`
	// People is the number of requests with a User-Agent of a browser or an app
	// of people. Disguised robots are among them.
	People int64 `json:"people"`
	// Robots is the number of requests of everyone else: Requests - People.
	Robots int64 `json:"robots"`
	// Bytes is the number of octets that were sent, as far as the log says.
	Bytes int64 `json:"bytes"`
	// Addresses is the number of different client addresses.
	Addresses int64 `json:"addresses"`
	// Period is the time of the first and the last request.
	Period Period `json:"period"`

	// WouldHave is what would have become of the requests.
	WouldHave WouldHave `json:"would_have"`
	// Crawlers is ordered by Requests, most first. Of crawlers that the
	// registry does not know, the most frequent ones have rows of their own,
	// and one row whose Rest is set has the others of a class.
	Crawlers []Crawler `json:"crawlers"`
	// Sources are the robots.txt files that requests were judged by, ordered
	// by host and time. Empty where none is known.
	Sources []Source `json:"sources"`
	// Rules are the lines of Sources that allow, disallow or set a pace, those
	// that never bound anyone included, ordered by Source, Layer and Line.
	Rules []Rule `json:"rules"`
	// Hosts is ordered by Requests, most first. Empty where the log has none.
	Hosts []Host `json:"hosts"`
	// Referrals sets visits that operators sent beside what their crawlers
	// fetched, ordered by Crawls, most first.
	Referrals []Referral `json:"referrals"`
	// Browsers, Systems and Devices are those of People, ordered by Requests,
	// most first. The last one may be named "other".
	Browsers []Count `json:"browsers"`
	Systems  []Count `json:"systems"`
	Devices  []Count `json:"devices"`
	// Activity has the requests over the period.
	Activity Activity `json:"activity"`

	// Inputs are the files that were read, in the order of time in which they
	// were judged.
	Inputs []Input `json:"inputs"`
	// UnreadableExamples are the first lines of Unreadable, at most 10.
	UnreadableExamples []UnreadableExample `json:"unreadable_examples"`
	// UnreadableReasons counts Unreadable by reason, most first.
	UnreadableReasons []Count `json:"unreadable_reasons"`
	// Warnings tell what the figures can't be relied on for.
	Warnings []Warning `json:"warnings"`

	// Suspects are the robots among People that the sites' settings would have
	// found; nil where no site looks for them.
	Suspects *Suspects `json:"suspects,omitempty"`

	// Against compares the verdicts with those of other robots.txt files; nil
	// unless asked for.
	Against *Against `json:"against,omitempty"`

	// Verified tells that claims were verified.
	Verified bool `json:"verification"`
	// Masked tells that client addresses and the values of queries are masked.
	Masked bool `json:"masked"`
	// Estimates names the figures that are estimates, by their JSON names:
	// "addresses", "crawlers[].addresses".
	Estimates []string `json:"estimates"`
}

// Period is a stretch of time. Both are zero, and null in JSON, where no line
// had a time.
type Period struct {
	From *time.Time `json:"from"`
	To   *time.Time `json:"to"`
}

// WouldHave is what would have become of the requests, had the rules been
// enforced.
type WouldHave struct {
	// Known tells that a robots.txt was known for at least one request. Where
	// it is not, the other figures are 0 and say nothing.
	Known bool `json:"known"`
	// Judged is the number of requests for which a robots.txt was known.
	Judged int64 `json:"judged"`
	// Refused is Denied + Throttled.
	Refused int64 `json:"refused"`
	// Denied is the number of requests that would have been answered 403 (or
	// 404 by a hidden rule), Throttled of those that would have been answered
	// 429.
	Denied    int64 `json:"denied"`
	Throttled int64 `json:"throttled"`
	// Browsers is the number of refused requests with a User-Agent that the
	// registry takes for a browser or an app of people: a robots.txt that names
	// such an app has them refused. Suspects.Refused are among them too, though
	// not among Refused.
	Browsers int64 `json:"browsers"`
	// Search is the number of refused requests of search engines, and
	// SearchVerified of those among them that are verified.
	Search         int64 `json:"search"`
	SearchVerified int64 `json:"search_verified"`
	// Reasons counts Refused by reason: disallowed, hidden, impostor,
	// crawl_delay, request_rate, visit_time, …, most first.
	Reasons []Count `json:"reasons"`
	// Purposes counts Refused by the crawler's purpose, most first. Those of
	// whom none is known have "".
	Purposes []Count `json:"purposes"`
}

// Count is a number of requests, of what has a name.
type Count struct {
	Name     string `json:"name"`
	Requests int64  `json:"requests"`
}

// Crawler is what one crawler did. A request whose User-Agent names several
// counts for the one that decided.
type Crawler struct {
	// Name is the registry's name, or the product token as it was sent. It is
	// "" for requests without a User-Agent.
	Name string `json:"name"`
	// Class is as in Identity: crawler, named, self-declared, user-triggered,
	// offline, webhook, program, library.
	Class    string `json:"class"`
	Purpose  string `json:"purpose"`  // "" if not known
	Operator string `json:"operator"` // "" if not known
	Known    bool   `json:"known"`    // it is in the registry
	// Rest tells that the row stands for all crawlers of its Class that have no
	// row of their own.
	Rest bool `json:"rest,omitempty"`

	Requests int64 `json:"requests"`
	Bytes    int64 `json:"bytes"`
	// Addresses is the number of different client addresses.
	Addresses int64 `json:"addresses"`
	// Denied is the number of requests that would have been answered 403 or
	// 404, Throttled of those that would have been answered 429.
	Denied    int64 `json:"denied"`
	Throttled int64 `json:"throttled"`
	// RobotsTxtReads is the number of requests for /robots.txt.
	RobotsTxtReads int64 `json:"robots_txt_reads"`
	// Verified is the number of requests from addresses that are the
	// crawler's, Impostor from addresses that are not, and Unverified of those
	// that could not be told. All are 0 where claims were not verified, or the
	// crawler's operator documents no method.
	Verified   int64 `json:"verified"`
	Impostor   int64 `json:"impostor"`
	Unverified int64 `json:"unverified"`

	First *time.Time `json:"first"` // null where no line had a time
	Last  *time.Time `json:"last"`
	// Statuses counts the answers that the server gave, by class: "2xx" …, most
	// first.
	Statuses []Count `json:"statuses"`
	// Group is the token of the group that bound most of its requests, "" if none
	// did; GroupSource the index of Report.Sources, -1 if none did; and GroupLine
	// the line at which the group begins, as Rule.Line counts them.
	Group       string `json:"group"`
	GroupSource int    `json:"group_source"`
	GroupLine   int    `json:"group_line"`
	// Reads are its reads of /robots.txt, in order of time. Where there are
	// many, neighbours with the same status and host are one element. At most
	// 200.
	Reads []RobotsTxtRead `json:"reads"`
	// Pace is what limited its pace; nil where nothing did.
	Pace *Pace `json:"pace,omitempty"`
	// Refused are examples of requests that would have been refused, the first
	// ones, at most 5.
	Refused []Example `json:"refused"`
}

// RobotsTxtRead is one read of /robots.txt, or several in a row.
type RobotsTxtRead struct {
	Time   time.Time `json:"time"`  // of the first
	Until  time.Time `json:"until"` // of the last
	Host   string    `json:"host"`
	Status int       `json:"status"` // 0 where the log does not say
	Count  int64     `json:"count"`
}

// Pace is how fast a crawler came, and how fast it might have.
type Pace struct {
	Source int    `json:"source"` // index of Report.Sources
	Line   int    `json:"line"`   // of the Crawl-delay, or the first Request-rate or Visit-time; in Layer
	Layer  string `json:"layer"`
	Text   string `json:"text"` // the line
	// Interval is the time between two requests that is asked for, in seconds;
	// 0 where only a time of day is.
	Interval float64 `json:"interval"`
	// Requests is the number of requests that were held to it, Throttled of
	// those that came too soon, too often or at the wrong time.
	Requests  int64 `json:"requests"`
	Throttled int64 `json:"throttled"`
	// Judged tells that the times of the log are fine enough for a verdict. Where
	// they are not, Throttled is 0 and says nothing.
	Judged bool `json:"judged"`
	// MedianInterval is the median time between two requests of the same
	// budget in a row, in seconds.
	MedianInterval float64 `json:"median_interval"`
	// Peak is the most requests of one budget in PeakWindow seconds, and Factor
	// is how many times as many that is as it might have sent: 4 means four
	// times too fast at the worst. 0 where Interval is 0, or Judged is not set.
	Peak       int64   `json:"peak"`
	PeakWindow float64 `json:"peak_window"`
	Factor     float64 `json:"factor"`
}

// Example is a request of the log.
type Example struct {
	Input  string     `json:"input"` // name of the file
	LineNo int64      `json:"line"`  // in that file, from 1
	Time   *time.Time `json:"time"`
	Host   string     `json:"host"`
	Client string     `json:"client"` // masked unless asked for
	Method string     `json:"method"`
	Target string     `json:"target"` // path and query; values of queries are masked unless asked for
	Agent  string     `json:"agent"`  // User-Agent
	Status int        `json:"status"`
	// Verdict is what would have become of the request.
	Verdict Verdict `json:"verdict"`
}

// Verdict is what would become of a request, and why.
type Verdict struct {
	Action string `json:"action"` // pass, deny or throttle
	Reason string `json:"reason"` // as in logs and placeholders: disallowed, crawl_delay, …
	Source int    `json:"source"` // index of Report.Sources (of Against.Sources in Difference.Was); -1 if none
	Layer  string `json:"layer"`  // site, policy, hidden or ""
	Line   int    `json:"line"`   // in Layer; 0 if none decided
	Text   string `json:"text"`   // the line; "" if none decided
}

// Source is one version of a robots.txt.
type Source struct {
	// Name is what was given for it: a file or a URL.
	Name string `json:"name"`
	// Hosts are those whose requests were judged by it. Empty where the log has
	// no hosts.
	Hosts []string `json:"hosts"`
	// From and To bound the time for which it was in force; null: without
	// bound. To is not part of it.
	From *time.Time `json:"from"`
	To   *time.Time `json:"to"`
	// State is what it is: loaded, missing, not_robots.
	State string `json:"state"`
	// Text is the text that was judged by: the site's own with the lines of the
	// operator's policy, if there is one.
	Text string `json:"text"`
	// Requests is the number of requests that were judged by it.
	Requests int64 `json:"requests"`
	// Notes tell what can't be enforced of it.
	Notes []string `json:"notes"`
}

// Rule is a line of a robots.txt, of a policy, or a hidden rule.
type Rule struct {
	Source int    `json:"source"` // index of Report.Sources
	Layer  string `json:"layer"`  // site, policy or hidden
	Line   int    `json:"line"`   // in the site's own file, or in the configuration
	// TextLine is the line of Source.Text that it is; 0 for hidden rules, which
	// are not there.
	TextLine int    `json:"text_line"`
	Text     string `json:"text"`
	Group    string `json:"group"` // the tokens of the group that it stands in, joined by ", "
	// Kind is allow, disallow, crawl-delay, request-rate or visit-time.
	Kind string `json:"kind"`
	// Bound is the number of requests that it decided about: allowed, denied
	// or, for a pace, held to it.
	Bound int64 `json:"bound"`
	// Denied is the number of requests that it would have refused.
	Denied int64 `json:"denied"`
	// Crawlers are those whom it bound, ordered by Bound, most first, at most
	// 50.
	Crawlers []RuleCrawler `json:"crawlers"`
}

// RuleCrawler is what a rule did to one crawler.
type RuleCrawler struct {
	Name   string `json:"name"`
	Bound  int64  `json:"bound"`
	Denied int64  `json:"denied"`
}

// Host is what the log has of one host.
type Host struct {
	Name     string `json:"name"` // "other" where Rest is set
	Rest     bool   `json:"rest,omitempty"`
	Requests int64  `json:"requests"`
	Robots   int64  `json:"robots"`
	Refused  int64  `json:"refused"`
	// Known tells that a robots.txt was known for it.
	Known bool `json:"known"`
}

// Referral sets the visits that an operator sent beside what its crawlers
// fetched.
type Referral struct {
	Operator string `json:"operator"`
	Crawls   int64  `json:"crawls"`
	// Referrals is the number of requests with browsers' User-Agents whose
	// Referer, or utm_source in the query, is of a site of the operator's.
	Referrals int64 `json:"referrals"`
	// Sites are those sites, at most 5.
	Sites []string `json:"sites"`
}

// Activity has numbers of requests in steps of equal length. All three lists
// have the same length, at most 400.
type Activity struct {
	Start   *time.Time `json:"start"` // null where no line had a time
	Step    float64    `json:"step"`  // seconds
	People  []int64    `json:"people"`
	Robots  []int64    `json:"robots"`
	Refused []int64    `json:"refused"`
}

// Input is a file that was read.
type Input struct {
	Name        string `json:"name"`
	Format      string `json:"format"`      // caddy-json, caddy-console, combined, common, vhost-combined, w3c, custom, …
	Compression string `json:"compression"` // gzip, zstd or ""
	Lines       int64  `json:"lines"`
	Requests    int64  `json:"requests"`
	Unreadable  int64  `json:"unreadable"`
	Period      Period `json:"period"`
	// Resolution is how fine its times are, in seconds: 1, 0.001, …
	Resolution float64 `json:"resolution"`
	// Zone tells that its times have a zone.
	Zone bool `json:"zone"`
}

// UnreadableExample is a line that could not be read.
type UnreadableExample struct {
	Input  string `json:"input"`
	LineNo int64  `json:"line"` // from 1
	Reason string `json:"reason"`
	Text   string `json:"text"` // its beginning, at most 200 octets; addresses and queries are masked unless asked for
}

// Warning tells what the figures can't be relied on for.
type Warning struct {
	// Code names the warning: few_addresses, sampled, no_zone, coarse_times,
	// cached, head_requests, time_back, masked_addresses, no_hosts, no_robots,
	// mixed_formats, verify_incomplete, …
	Code string `json:"code"`
	Text string `json:"text"`
}

// Against compares the verdicts of a log by two sets of robots.txt files under
// the same settings.
type Against struct {
	// Sources are the files that are compared with, as Report.Sources is.
	Sources []Source `json:"sources"`
	// Changed is the number of requests whose verdict differs: another action.
	Changed int64 `json:"changed"`
	// MoreRefused and MorePassed are the two parts of Changed.
	MoreRefused int64 `json:"more_refused"`
	MorePassed  int64 `json:"more_passed"`
	// Browsers is the number of requests with browsers' User-Agents that are
	// refused now.
	Browsers int64 `json:"browsers"`
	// Search and SearchWas are the numbers of refused requests of search
	// engines, now and with Sources.
	Search    int64 `json:"search"`
	SearchWas int64 `json:"search_was"`
	// Bad tells that Browsers is not 0 or that requests of some search engine
	// are refused more often than before. The command exits with status 2 then.
	Bad bool `json:"bad"`
	// Differences are the changed verdicts by crawler and rule, those that
	// refuse more first, then by Requests, most first. At most 500.
	Differences []Difference `json:"differences"`
}

// Difference is a change of verdicts that one crawler would notice.
type Difference struct {
	Crawler  string    `json:"crawler"`
	Class    string    `json:"class"`
	Purpose  string    `json:"purpose"`
	Was      Verdict   `json:"was"`
	Now      Verdict   `json:"now"`
	Requests int64     `json:"requests"`
	Examples []Example `json:"examples"` // at most 3
}
