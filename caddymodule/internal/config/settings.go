package config

import (
	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/headers"
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
	modes        = lines.Choices{ModeEnforce, ModeMonitor}
	errorActions = lines.Choices{onErrorKeep, OnErrorDeny}
	programs     = lines.Choices{"off", "on"}
)

// Settings configures robots for one site. In the app's `defaults` it applies
// to all sites.
//
// docs/configuration.md is made from these comments and those of the types of the
// fields: go test ./caddymodule/internal/config -update. The code in a comment is
// an example in a Caddyfile; Handler.UnmarshalCaddyfile has the whole syntax.
type Settings struct {
	// Where the rules come from. `site`: the site's own /robots.txt, for each host. `file`,
	// `inline` (usually a heredoc) and `url`: one file for all hosts, which crawlers read only
	// with `publish`. Default: `site`.
	//
	//	source file /etc/caddy/robots.txt
	Source *Source `json:"source,omitempty"`

	// How old a fetched file may be, at least 1s. Default: 1m.
	//
	//	refresh 30s
	Refresh caddy.Duration `json:"refresh,omitempty"`

	// What crawlers get while the file can't be fetched. `last_good`: the last good copy for
	// up to 30 days, then no rules. `deny`: 503 for every path, as RFC 9309 requires; after
	// days of it, search engines drop pages. Default: `last_good`.
	//
	//	on_error deny
	OnError string `json:"on_error,omitempty"`

	// For how many origins (scheme, host and port) the site's own file is kept, from 1 to
	// 1000000. Beyond it, hosts that only a pattern such as `*.example.com` matches are
	// dropped first. Default: 1000.
	//
	//	max_origins 5000
	MaxOrigins int `json:"max_origins,omitempty"`

	// Whether the handler answers /robots.txt with the file from the source; not for the
	// source `site`, and not in monitor mode. `policy` does so anyway. Default: false.
	//
	//	source file /etc/caddy/robots.txt
	//	publish
	Publish *bool `json:"publish,omitempty"`

	// `enforce` refuses requests. `monitor` counts and logs what `enforce` would refuse, and
	// publishes nothing. X-Robots-Tag headers are sent in both. Default: `enforce`.
	//
	//	mode monitor {
	//		enforce GPTBot Bytespider seo
	//	}
	Mode string `json:"mode,omitempty"`

	// In the mode `monitor`, names and purposes of crawlers whose requests are refused. A
	// purpose leaves out search engines. Only these crawlers read a file that the handler
	// publishes. Default: none.
	Enforced []string `json:"enforced,omitempty"`

	// The mode of some hosts of the block, in place of `mode`: names, or patterns in which a
	// `*` stands for one label; names go before patterns. May be repeated. Default: none.
	//
	//	host t123.example *.staging.example off
	//	host shop.example monitor
	Hosts []HostMode `json:"hosts,omitempty"`

	// The robots.txt language. `1994`: the first matching rule decides, there are no
	// wildcards, and a blank line ends a group. `1996`: like `1994`, with several values in a
	// line. Default: `rfc9309`.
	//
	//	dialect 1994
	Dialect string `json:"dialect,omitempty"`

	// Crawlers that are never refused, by a name or token in the registry, or the name of a
	// probe. Without `from`, every client that sends the name is exempt, unless `verify`
	// refutes the claim. A program of your own needs a `crawler` block too. Default: none.
	//
	//	exempt GTmetrix from 198.51.100.16/28
	//	exempt OurMonitor from 127.0.0.1 ::1
	//	crawler OurMonitor {
	//		user_agents our-monitor
	//	}
	Exempt []Exemption `json:"exempt,omitempty"`

	// Paths, in robots.txt syntax, on which nothing is refused. It replaces the default, which
	// security.txt, apps and certificates need. Default: `/.well-known/*`.
	//
	//	exempt_paths /.well-known/* /status$
	ExemptPaths []string `json:"exempt_paths,omitempty"`

	// Whether the group for `*` applies to HTTP libraries (curl, python-requests) and to
	// requests without a User-Agent. Clients of your API look the same: exclude their paths
	// with `exempt_paths`. Default: false.
	//
	//	http_clients on
	HTTPClients *bool `json:"http_clients,omitempty"`

	// Whether the group for `*` applies to programs that send only their name
	// (`SiteSweeper/2.0`), and to tools that fetch single documents (Terraform). Default:
	// `off`.
	//
	//	programs on
	Programs string `json:"programs,omitempty"`

	// Whether the group for `*` applies to the GET and HEAD requests of fetchers that act for
	// a person (ChatGPT-User, link previews, feed readers). Default: true.
	//
	//	user_triggered off
	UserTriggered *bool `json:"user_triggered,omitempty"`

	// Whether every rule applies to every crawler, even if its operator documents that it
	// ignores the rule: `*` to AdsBot-Google and to API calls of self-declared crawlers; the
	// Crawl-delay of `*` to Googlebot; RFC 9309 where Google's parser differs. Crawlers may
	// drop pages. Default: false.
	//
	//	strict on
	Strict *bool `json:"strict,omitempty"`

	// Whether X-Forwarded-Host of Caddy's `trusted_proxies` is the site's host. Set it only if
	// your proxy replaces the field: many pass on what the client sent. Default: false.
	//
	//	forwarded_host on
	ForwardedHost *bool `json:"forwarded_host,omitempty"`

	// Crawlers to add to the registry, or facts about a known one to override. Default: none.
	//
	//	crawler OurIndexer {
	//		user_agents our-indexer
	//		robots OurIndexer Googlebot
	//		purpose intranet
	//		verify dns crawl.example.com
	//	}
	Crawlers []Crawler `json:"crawlers,omitempty"`

	// A file with more crawlers, one JSON object in each line with the fields of `crawler`, or
	// the https URL of one. A file is read again when it changes, and replaces built-in rows
	// of the same name. A URL is fetched every 6 hours, and only adds rows. Default: none.
	//
	//	registry /etc/caddy/crawlers.jsonl
	Registry string `json:"registry,omitempty"`

	// What refused requests get, one line for each verdict. Values that would harm the site in
	// search engines are errors. Default: a sentence that says why.
	//
	//	answer disallowed 451 "See https://example.com/terms"
	Answers []Answer `json:"answers,omitempty"`

	// Which other spellings your back end treats as the same path, besides percent escapes,
	// dot segments and double slashes. None allows more, and none covers
	// `/index.php/private/x` for `/private/x`. Default: none.
	//
	//	paths ignore_case strip_params
	Paths *Paths `json:"paths,omitempty"`

	// How Crawl-delay, Request-rate and Visit-time are enforced.
	//
	//	crawl_delay {
	//		max 1m
	//		burst 3
	//	}
	CrawlDelay *CrawlDelay `json:"crawl_delay,omitempty"`

	// The steps, by their names. In a Caddyfile each is the line with its name.
	Steps caddy.ModuleMap `json:"steps,omitempty" caddy:"namespace=http.robots.steps"`

	// X-Robots-Tag headers by file name, path, regular expression, media type or status. A
	// response gets the headers of all lines that match. Default: none.
	//
	//	x_robots_tag *.pdf noindex, nofollow
	//	x_robots_tag type application/zip none
	XRobotsTag []headers.Setting `json:"x_robots_tag,omitempty"`

	// Whether paths that a `Noindex:` line of robots.txt matches get `X-Robots-Tag: noindex`.
	// Look at the lines of an old file first: search engines no longer obey them. Default:
	// false.
	//
	//	noindex_lines on
	NoindexLines *bool `json:"noindex_lines,omitempty"`

	// Whether the Content-Signal, Content-Usage and License lines of the client's group are
	// sent as header fields. Default: false.
	//
	//	signals on
	Signals *bool `json:"signals,omitempty"`

	// What a handler does not use of the app's `defaults`, by the names of settings and steps.
	// In `defaults`, the names of steps that are on by default and are off for all sites.
	// Default: none.
	Off []string `json:"off,omitempty"`

	// The places of options in the configuration file, such as
	// `{"registry": "Caddyfile:12"}`. Errors about files and URLs that are found at load
	// begin with them. Default: none.
	Places Places `json:"places,omitempty"`
}
