package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/robots"
)

// The values of Settings.Mode.
const (
	ModeEnforce = "enforce"
	ModeMonitor = "monitor"
)

// The values of Settings.OnError.
const (
	onErrorKeep = "last_good"
	OnErrorDeny = "deny"
)

// The values of settings. The first one is the default.
var (
	modes        = choices{ModeEnforce, ModeMonitor}
	errorActions = choices{onErrorKeep, OnErrorDeny}
	programs     = choices{enforce.ProgramsOff.String(), enforce.ProgramsSeen.String(), enforce.ProgramsOn.String()}
	graces       = choices{enforce.GraceSearch.String(), enforce.GraceOff.String(), enforce.GraceAll.String()}
)

// Settings configures robots for one site. In the app's `defaults` it applies
// to all sites.
type Settings struct {
	// Where the rules come from. Default: the site's own /robots.txt.
	Source *Source `json:"source,omitempty"`

	// The time between two reads of the source, at least 1s: the first request
	// after this time causes the next read. After a failed read, the handler
	// tries again without a request, as long as the host had one in the last 24
	// hours. While no good copy is in force, it does so after 1, 2, 4 … seconds,
	// up to this time. A source `file` is also read when it changes, and a source
	// `site` also when a client fetches /robots.txt. Default: 1m.
	Refresh caddy.Duration `json:"refresh,omitempty"`

	// What applies while the source can't be read, that is, while it answers
	// 429, 5xx or with another unexpected status, redirects too often, or does
	// not answer. `last_good`: the last good copy, for up to 30 days; no rules if
	// there is no copy. `deny`: crawlers get 503 for everything, as RFC 9309
	// requires. After 404 and 410 there are no rules. After another 4xx, the last
	// good copy applies for up to 24 hours, and then no rules. Default:
	// `last_good`.
	OnError string `json:"on_error,omitempty"`

	// The largest number of origins (scheme, host and port) for which the
	// handler keeps the site's own robots.txt. Beyond it, the handler drops
	// another origin: first one with a host that the site's addresses match only
	// by a pattern; then one whose robots.txt was not read yet; then the least
	// recently used one. Default: 1000.
	MaxOrigins int `json:"max_origins,omitempty"`

	// Whether the handler answers /robots.txt with the file from the source, so
	// that crawlers read the rules that are enforced. An error with the source
	// `site`, because the site already serves its own file. With a `policy` that
	// adds lines to the file, the handler answers /robots.txt in any case, except
	// in monitor mode. Default: false.
	Publish *bool `json:"publish,omitempty"`

	// `enforce` refuses requests. `monitor` only decides, counts and logs: it
	// lets every request through, and the handler does not answer /robots.txt.
	// X-Robots-Tag headers are sent in both modes. Default: `enforce`.
	Mode string `json:"mode,omitempty"`

	// Names and purposes of crawlers whose requests are refused in the mode
	// `monitor` too, so that enforcing can begin step by step. Only these
	// crawlers then read a robots.txt that the handler publishes. Default: none.
	Enforced []string `json:"enforced,omitempty"`

	// Whether the mode `enforce` stops by itself, for the purpose of a crawler,
	// when a verified search engine is refused by a line that names it or that
	// refuses more than half of its requests in ten minutes. The purpose is then
	// only monitored, until the next load of the configuration. Default: false.
	Guard *bool `json:"guard,omitempty"`

	// The version of the robots.txt language. `rfc9309`: the longest matching
	// rule decides, and `*` and `$` are wildcards. `1994`: the first matching
	// rule decides, there are no wildcards, and a blank line ends a group.
	// `1996`: like `1994`, and a line may have several values. Default:
	// `rfc9309`.
	Dialect string `json:"dialect,omitempty"`

	// Crawlers that robots.txt does not apply to. Without `from`, anybody who
	// sends such a crawler's name is exempt, unless `verify` can check the
	// claim. Default: none.
	Exempt []Exemption `json:"exempt,omitempty"`

	// Paths, in robots.txt syntax, that are never denied and never throttled.
	// `/robots.txt` is always exempt. A list replaces the default, so repeat
	// `/.well-known/*` in it. Default: `/.well-known/*`.
	ExemptPaths []string `json:"exempt_paths,omitempty"`

	// Whether the group `User-agent: *` applies to HTTP libraries (curl,
	// python-requests, …) and to requests without a User-Agent. API clients and
	// webhooks look the same, so they would be refused too. A group that names
	// a library always applies to it. Default: false.
	HTTPClients *bool `json:"http_clients,omitempty"`

	// Whether the group `User-agent: *` applies to programs that send only
	// their name (`SiteSweeper/2.0`). `off`: no. `on`: yes. `seen`: only its
	// path rules, only to programs that read /robots.txt from the same address
	// in the last 24 hours, and only to GET and HEAD requests without an
	// Authorization field. A group that names a program always applies to it.
	// Default: `off`.
	Programs string `json:"programs,omitempty"`

	// Whether the group `User-agent: *` applies to the GET and HEAD requests of
	// fetchers that act for a person (ChatGPT-User, link previews, …). A group
	// that names a fetcher always applies to it. Default: true.
	UserTriggered *bool `json:"user_triggered,omitempty"`

	// Whether every rule applies to every crawler, even if the crawler's
	// operator documents that it ignores the rule: `User-agent: *` to
	// AdsBot-Google, or Crawl-delay to Googlebot. Default: false.
	Strict *bool `json:"strict,omitempty"`

	// Whether the site's host is taken from X-Forwarded-Host if the client is a
	// trusted proxy. Many load balancers pass on the value that the client
	// sent, so set it only if your proxy replaces the field. Default: false.
	ForwardedHost *bool `json:"forwarded_host,omitempty"`

	// Crawlers to add to the registry, or to override. The registry is the list
	// of known crawlers that comes with the plugin. Default: none.
	Crawlers []Crawler `json:"crawlers,omitempty"`

	// A file with more crawlers, one JSON object per line, or the https URL of
	// such a file. A file is read again when it changes, and its crawlers
	// also override built-in ones. A URL is read every 6 hours in the background;
	// its crawlers are only added, and the last good copy is kept in Caddy's
	// storage. While a file or URL can't be used, the previous crawlers stay in
	// force. Placeholders that are known when the configuration is loaded are
	// replaced. Default: none.
	Registry string `json:"registry,omitempty"`

	// Rules for crawlers by purpose and by name, in addition to the site's own
	// robots.txt. The handler merges them into that file and, except in monitor
	// mode, answers /robots.txt with the result. Default: none.
	Policy *managed.Policy `json:"policy,omitempty"`

	// Which crawlers may follow the earlier robots.txt for a while after it
	// changed. A crawler that visited the site in the 24 hours before the change
	// may still fetch the paths that the earlier file allowed, until it has read
	// the file again, and for at most 24 hours. `search`: crawlers of search
	// engines, because they drop a page that answers 403. `all`: all crawlers.
	// `off`: none. Default: `search`.
	Grace string `json:"grace,omitempty"`

	// Answers that replace the default ones, at most one for each verdict.
	Answers []Answer `json:"answers,omitempty"`

	// The ways in which the back end treats different spellings of a path as
	// the same path. Default: none.
	Paths *Paths `json:"paths,omitempty"`

	// How Crawl-delay, Request-rate and Visit-time are enforced.
	CrawlDelay *CrawlDelay `json:"crawl_delay,omitempty"`

	// Limits for what crawlers request together, at most 7. A request must meet all
	// that hold it. Default: none.
	Limits []Limit `json:"limits,omitempty"`

	// Makes several servers share their budgets through Redis or Valkey.
	// Default: each server counts for itself.
	Fleet *Fleet `json:"fleet,omitempty"`

	// Checks whether a client is the crawler that its User-Agent names. Off
	// unless present, because it sends requests to the servers of crawlers'
	// operators and to DNS.
	Verify *Verify `json:"verify,omitempty"`

	// Finds clients that send a browser's User-Agent and behave like robots. Off
	// unless present.
	Suspects *Suspects `json:"suspects,omitempty"`

	// Refuses robots while the server is busy. Off unless present.
	Shed *Shed `json:"shed,omitempty"`

	// X-Robots-Tag headers by file name, path, media type or status. A response
	// gets the headers of all rules that match. If a handler returns an error,
	// its status is what rules for a status are compared with. If a rule with
	// `only` matches, the response also gets `Vary: User-Agent`.
	XRobotsTag []headers.Setting `json:"x_robots_tag,omitempty"`

	// Whether paths that a `Noindex:` line of robots.txt matches get
	// `X-Robots-Tag: noindex`. Search engines no longer obey these lines
	// themselves. A crawler with a group of its own gets a header from that
	// group, which names the crawler. All other clients, also people, get the
	// header from the group for `*`. Default: false.
	NoindexLines *bool `json:"noindex_lines,omitempty"`

	// Whether robots meta tags of HTML documents are also sent as X-Robots-Tag,
	// for crawlers that look at headers only. The handler reads the first 64 KiB
	// of a document, also if it is compressed with gzip or zstd. It does not
	// change the document. Default: false.
	MetaRobots *bool `json:"meta_robots,omitempty"`

	// Whether the Content-Signal and Content-Usage lines of the crawler's group
	// are sent as header fields, and its License lines as
	// `Link: <…>; rel="license"`. Clients without a group of their own get the
	// lines of the group for `*`. Default: false.
	Signals *bool `json:"signals,omitempty"`
}

// On returns the value of a switch that is off by default.
func On(value *bool) bool { return value != nil && *value }

// Engine converts the settings to the engine's, without a registry.
func (s *Settings) Engine() (r enforce.Settings, err error) {
	r = enforce.Settings{
		ID:                  s.id(),
		ExemptPaths:         s.exemptPaths(),
		HTTPClients:         On(s.HTTPClients),
		IgnoreUserTriggered: s.UserTriggered != nil && !*s.UserTriggered,
		Strict:              On(s.Strict),
		Signals:             On(s.Signals),
		Views:               s.Paths.Views(),
	}
	if s.Policy != nil {
		r.Managed = s.Policy.Additions
	}
	if s.Shed != nil {
		r.ShedFile = s.Shed.File
	}
	if s.SourceKind() == SourceInline {
		r.SourceFile, r.SourceLine = cmp.Or(s.Source.File, "source inline"), s.Source.Line
	}
	for _, l := range s.Limits {
		limit, err := l.engine()
		if err != nil {
			return r, err
		}
		r.Limits = append(r.Limits, limit)
	}
	if r.Dialect, err = robots.ParseDialect(cmp.Or(s.Dialect, robots.RFC9309.String())); err != nil {
		return r, err
	}
	if r.Exempt, err = exemptions(s.Exempt); err != nil {
		return r, err
	}
	if r.Programs, err = enforce.ParsePrograms(cmp.Or(s.Programs, programs[0])); err != nil {
		return r, fmt.Errorf("programs %w", err)
	}
	if r.Grace, err = enforce.ParseGrace(cmp.Or(s.Grace, graces[0])); err != nil {
		return r, fmt.Errorf("grace %w", err)
	}
	if c := s.CrawlDelay; c != nil {
		r.MaxDelay, r.Wait, r.Burst, r.PerIP = time.Duration(c.Max), time.Duration(c.Wait), c.Burst, c.Per == countByIP
	}
	r.Monitor = s.Mode == ModeMonitor
	if r.Monitor {
		r.Except = s.Enforced
	}
	return r, nil
}

// id returns enforce.Settings.ID.
func (s *Settings) id() string {
	same := *s
	if s.SourceKind() != SourceInline { // of which the engine needs the lines
		same.Source = nil
	}
	text, err := json.Marshal(&same)
	if err != nil {
		return ""
	}
	return string(text)
}

// exemptPaths returns ExemptPaths, or the default.
func (s *Settings) exemptPaths() []string {
	if s.ExemptPaths == nil {
		return []string{"/.well-known/*"}
	}
	return s.ExemptPaths
}

// Check checks the settings alone: it reads no files and uses no network.
func (s *Settings) Check() error {
	_, exemptErr := exemptions(s.Exempt)
	return cmp.Or(
		modes.check("mode", s.Mode),
		errorActions.check("on_error", s.OnError),
		programs.check("programs", s.Programs),
		graces.check("grace", s.Grace),
		s.checkReads(),
		s.CrawlDelay.check(),
		s.checkLimits(),
		s.Verify.check(),
		s.Suspects.check(),
		s.Shed.check(),
		exemptErr,
		checkCrawlers(s.Crawlers),
		checkAnswers(s.Answers),
		s.Fleet.check(),
	)
}

// checkReads checks the settings about reads of the source.
func (s *Settings) checkReads() error {
	switch {
	case s.Refresh != 0 && time.Duration(s.Refresh) < time.Second:
		return fmt.Errorf("refresh %s is below 1s", time.Duration(s.Refresh))
	case s.MaxOrigins < 0:
		return fmt.Errorf("max_origins %d is below 1", s.MaxOrigins)
	case On(s.Publish) && s.SourceKind() == SourceSite:
		return errors.New("publish needs source file, inline or url: with source site, the site already serves its own robots.txt")
	}
	return nil
}

// dialect parses
//
//	dialect rfc9309 | 1994 | 1996
func (p *parser) dialect(_, value string) error {
	if _, err := robots.ParseDialect(value); err != nil {
		return fmt.Errorf("dialect: %w", err)
	}
	p.settings.Dialect = value
	return nil
}

// xRobotsTag parses
//
//	x_robots_tag [not] <pattern> [<crawler>: [only]] <directives...>
func (p *parser) xRobotsTag(_ string, values []string) error {
	rule, err := headers.ParseSetting(values)
	if err != nil {
		return fmt.Errorf("x_robots_tag: %w", err)
	}
	p.settings.XRobotsTag = append(p.settings.XRobotsTag, rule)
	return nil
}
