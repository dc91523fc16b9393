package caddymodule

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/managed"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
)

// The values of Settings.Mode, Settings.OnError and CrawlDelay.Per.
const (
	modeEnforce    = "enforce"
	modeMonitor    = "monitor"
	onErrorKeep    = "last_good"
	onErrorDeny    = "deny"
	countByIP      = "ip"
	countByCrawler = "crawler"
)

// Paths says which other spellings the back end treats as the same path.
// Percent escapes, dot segments and double slashes are always resolved. All
// fields are off by default.
type Paths struct {
	// The back end ignores the case of paths, as on Windows.
	IgnoreCase bool `json:"ignore_case,omitempty"`

	// The back end cuts `;parameters` off path segments, as servlet
	// containers do.
	StripParams bool `json:"strip_params,omitempty"`

	// The back end decodes percent escapes twice.
	DecodeTwice bool `json:"decode_twice,omitempty"`
}

// viewOptions returns the paths as the engine reads them; nil has all off.
func (p *Paths) viewOptions() (o robots.ViewOptions) {
	if p != nil {
		o = robots.ViewOptions{FoldCase: p.IgnoreCase, StripParams: p.StripParams, DecodeTwice: p.DecodeTwice}
	}
	return o
}

// Settings are the choices of an operator for a site, or for all sites where
// they are the defaults of the robots app.
type Settings struct {
	// Where the rules come from. Default: the site's own /robots.txt.
	Source *Source `json:"source,omitempty"`

	// How often the source is read again; at least 1s. A file is also read
	// when it changes. Default: 1m.
	Refresh caddy.Duration `json:"refresh,omitempty"`

	// What is in force while the source answers 5xx or not at all: `last_good`,
	// the last good copy, or no rules where there is none; or `deny`, which
	// denies crawlers everything, as RFC 9309 says. Default: `last_good`.
	OnError string `json:"on_error,omitempty"`

	// How many origins (scheme, host and port) the site's own robots.txt is
	// kept for. If there are more, the least recently used one is dropped.
	// Default: 1000.
	MaxOrigins int `json:"max_origins,omitempty"`

	// Serve /robots.txt from the source, so that the published rules are the
	// enforced ones. Not allowed with the source `site`, which the site
	// publishes already.
	Publish *bool `json:"publish,omitempty"`

	// `enforce`, or `monitor`, which decides, counts and logs, and lets
	// everything through. Default: `enforce`.
	Mode string `json:"mode,omitempty"`

	// How the file is read: `rfc9309`; `1994`, a blank line ends a group, first
	// match wins and no wildcards; or `1996`, also several values on a line.
	// Default: `rfc9309`.
	Dialect string `json:"dialect,omitempty"`

	// Crawlers that are never bound.
	Exempt []Exemption `json:"exempt,omitempty"`

	// Paths that are never denied and never throttled, in robots.txt syntax.
	// `/robots.txt` always is one of them. Default: `/.well-known/*`.
	ExemptPaths []string `json:"exempt_paths,omitempty"`

	// Hold HTTP libraries (curl, python-requests, …) and requests without a
	// User-Agent to `User-agent: *`. Off by default, because API clients and
	// webhooks look the same. A group that names a library binds it always.
	HTTPClients *bool `json:"http_clients,omitempty"`

	// Hold programs that give no more than their name (`SiteSweeper/2.0`) to
	// `User-agent: *`: `off`; `seen`, those that read /robots.txt from the same
	// address in the last 24 hours, to its path rules, for GET and HEAD without
	// Authorization; or `on`. A group that names a program binds it always.
	// Default: `off`.
	Programs string `json:"programs,omitempty"`

	// Hold fetchers that act on a person's request (ChatGPT-User, link
	// previews, …) to `User-agent: *`, for GET and HEAD. Default: true.
	UserTriggered *bool `json:"user_triggered,omitempty"`

	// Apply every rule to every crawler, even one that its operator documents
	// as ignored: `User-agent: *` to AdsBot-Google, Crawl-delay to Googlebot.
	Strict *bool `json:"strict,omitempty"`

	// Take the host of the site from X-Forwarded-Host where the client is a
	// trusted proxy. Off by default, because many load balancers pass on the
	// client's own value.
	ForwardedHost *bool `json:"forwarded_host,omitempty"`

	// Crawlers to add to the built-in registry, or to override.
	Crawlers []Crawler `json:"crawlers,omitempty"`

	// A file with more crawlers, one JSON object per line. It is read again
	// when it changes; a broken file changes nothing. Or an https URL of such a
	// file, which is read every 6 hours in the background. Its last good copy
	// is kept in Caddy's storage, and its rows only add crawlers. Placeholders
	// that are known when the configuration is loaded are replaced.
	Registry string `json:"registry,omitempty"`

	// Rules for crawlers by purpose and by name, in addition to the site's own
	// robots.txt. They are merged into that file, which the handler then
	// publishes itself.
	Policy *managed.Policy `json:"policy,omitempty"`

	// Which crawlers may follow an earlier version of robots.txt after it
	// changed: `search`, those of search engines, which drop a page that they get
	// 403 for; `all`; or `off`. A path that the earlier version allowed then
	// passes for a crawler that was there before the change, until it has read
	// the file again, and for 24 hours at most. Default: `search`.
	Grace string `json:"grace,omitempty"`

	// Answers that replace the default ones, by verdict.
	Answers []Answer `json:"answers,omitempty"`

	// Other spellings that the back end treats as the same path.
	Paths *Paths `json:"paths,omitempty"`

	// How Crawl-delay, Request-rate and Visit-time are enforced.
	CrawlDelay *CrawlDelay `json:"crawl_delay,omitempty"`

	// Share budgets among several servers, through Redis or Valkey. Without it
	// each process has its own.
	Fleet *Fleet `json:"fleet,omitempty"`

	// Check the claims of crawlers. Off unless present, because it sends
	// requests to other operators' servers.
	Verify *Verify `json:"verify,omitempty"`

	// Notice clients that send a browser's User-Agent and behave like robots.
	// Off unless present.
	Suspects *Suspects `json:"suspects,omitempty"`

	// X-Robots-Tag headers by file pattern. All matching headers are sent, with
	// error responses too: there the status is that of the error that a handler
	// returned. Where a rule with `only` matches, `Vary: User-Agent` is sent
	// too.
	XRobotsTag []headers.Rule `json:"x_robots_tag,omitempty"`

	// Answer paths that a `Noindex:` line of robots.txt matches with
	// `X-Robots-Tag: noindex`. Crawlers no longer obey these lines themselves.
	// A crawler with a group of its own gets what that group says, under its
	// own name; all other clients, people too, get what the group for `*` says.
	NoindexLines *bool `json:"noindex_lines,omitempty"`

	// Send the robots meta tags in the head of HTML documents as X-Robots-Tag
	// too, for readers that look at headers only. The head is read in the first
	// 64 KB, through gzip and zstd; the body is not changed.
	MetaRobots *bool `json:"meta_robots,omitempty"`

	// Send the Content-Signal and Content-Usage lines of the crawler's group
	// as header fields, and License lines as `Link: <…>; rel="license"`.
	Signals *bool `json:"signals,omitempty"`
}

// withDefaults fills in what s does not set.
func (s *Settings) withDefaults(defaults *Settings) {
	if defaults == nil {
		return
	}
	to, from := reflect.ValueOf(s).Elem(), reflect.ValueOf(defaults).Elem()
	for i := range to.NumField() {
		if to.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
}

// isOn is the value of a switch, off unless it is set.
func isOn(value *bool) bool { return value != nil && *value }

// rules are the operator's choices as the engine takes them.
func (s *Settings) rules() (enforce.Rules, error) {
	dialect := robots.RFC9309
	if s.Dialect != "" {
		var err error
		if dialect, err = robots.ParseDialect(s.Dialect); err != nil {
			return enforce.Rules{}, err
		}
	}
	exempt, err := s.exemptions()
	if err != nil {
		return enforce.Rules{}, err
	}
	programs := enforce.ProgramsOff
	if s.Programs != "" {
		var err error
		if programs, err = enforce.ParsePrograms(s.Programs); err != nil {
			return enforce.Rules{}, fmt.Errorf("programs %w", err)
		}
	}
	grace := enforce.GraceSearch
	if s.Grace != "" {
		var err error
		if grace, err = enforce.ParseGrace(s.Grace); err != nil {
			return enforce.Rules{}, fmt.Errorf("grace %w", err)
		}
	}
	r := enforce.Rules{
		Grace:               grace,
		Dialect:             dialect,
		Exempt:              exempt,
		ExemptPaths:         s.ExemptPaths,
		HTTPClients:         isOn(s.HTTPClients),
		Programs:            programs,
		IgnoreUserTriggered: s.UserTriggered != nil && !*s.UserTriggered,
		Strict:              isOn(s.Strict),
		Signals:             isOn(s.Signals),
		Managed:             s.Policy,
	}
	if s.ExemptPaths == nil {
		r.ExemptPaths = []string{"/.well-known/*"}
	}
	r.Views = s.Paths.viewOptions()
	if c := s.CrawlDelay; c != nil {
		r.MaxDelay, r.Wait, r.Burst, r.PerIP = time.Duration(c.Max), time.Duration(c.Wait), c.Burst, c.Per == countByIP
	}
	if s.Mode == modeMonitor {
		r.Monitor, r.Wait = true, 0
	}
	return r, nil
}

// validate reports what is wrong with the settings on their own, without
// looking at anything outside.
func (s *Settings) validate() error {
	if err := oneOf("mode", s.Mode, "", modeEnforce, modeMonitor); err != nil {
		return err
	}
	if err := oneOf("on_error", s.OnError, "", onErrorKeep, onErrorDeny); err != nil {
		return err
	}
	if err := oneOf("programs", s.Programs, "", enforce.ProgramsOff.String(), enforce.ProgramsSeen.String(), enforce.ProgramsOn.String()); err != nil {
		return err
	}
	if err := oneOf("grace", s.Grace, "", enforce.GraceSearch.String(), enforce.GraceOff.String(), enforce.GraceAll.String()); err != nil {
		return err
	}
	if s.Refresh != 0 && time.Duration(s.Refresh) < time.Second {
		return fmt.Errorf("refresh %s is below 1s", time.Duration(s.Refresh))
	}
	if s.MaxOrigins < 0 {
		return fmt.Errorf("max_origins %d is below 1", s.MaxOrigins)
	}
	if isOn(s.Publish) && s.kind() == sourceSite {
		return errors.New("publish goes with source file, inline or url: the site publishes its own robots.txt already")
	}
	if c := s.CrawlDelay; c != nil {
		if err := c.validate(); err != nil {
			return err
		}
	}
	if s.Verify != nil {
		if err := s.Verify.validate(); err != nil {
			return err
		}
	}
	if s.Suspects != nil {
		if err := s.Suspects.validate(); err != nil {
			return err
		}
	}
	if _, err := s.exemptions(); err != nil {
		return err
	}
	for _, c := range s.Crawlers {
		if c.Verify != nil {
			if err := c.Verify.validate(); err != nil {
				return fmt.Errorf("crawler %q: %w", c.Name, err)
			}
		}
		if c.Purpose == "" {
			continue
		}
		if err := checkPurpose(c.Purpose); err != nil {
			return fmt.Errorf("crawler %q: %w", c.Name, err)
		}
	}
	if err := checkAnswers(s.Answers); err != nil {
		return err
	}
	if s.Fleet != nil {
		return s.Fleet.validate()
	}
	return nil
}

// oneOf reports whether a value is among the allowed ones, the first of which
// is the default and not named.
func oneOf(name, value string, allowed ...string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	want := allowed[1]
	for _, a := range allowed[2:] {
		want += " or " + a
	}
	return fmt.Errorf("%s %q: want %s", name, value, want)
}
