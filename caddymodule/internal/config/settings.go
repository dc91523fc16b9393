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
	// Where the rules come from. `site`: the site's own /robots.txt, which the
	// handler fetches for each host through the site's routes, inside the process.
	// `file`, `inline` (in a Caddyfile usually a heredoc) and `url`: one file for all
	// hosts. With these three, crawlers read other rules than those in force, unless
	// `publish` is on. Default: `site`.
	//
	//	source file /etc/caddy/robots.txt
	Source *Source `json:"source,omitempty"`

	// How old a fetched file may be, at least 1s: the first request after this time
	// begins the next fetch. A file on disk is also fetched when it changes, and
	// the site's own file when a client reads /robots.txt. Failed fetches are
	// repeated without a request; while there is no last good copy, after 1, 2, 4 …
	// seconds. Default: 1m.
	//
	//	refresh 30s
	Refresh caddy.Duration `json:"refresh,omitempty"`

	// What crawlers get while the file can't be fetched: its status is 429, 5xx or
	// another unexpected one, it has only NULs, or no answer comes. `last_good`: the
	// last good copy stays in force for up to 30 days; without one, there are no
	// rules. `deny`: crawlers get 503 for every path, as RFC 9309 requires; browsers,
	// webhooks, probes and what is exempt pass, and unless `http_clients` and `programs`
	// are on, HTTP libraries and programs too. If several back ends serve the site, 503
	// is for the paths of all while the one that answers /robots.txt is down. After days
	// of 503, search engines drop pages. Default: `last_good`.
	//
	//	on_error deny
	OnError string `json:"on_error,omitempty"`

	// For how many origins (scheme, host and port) the handler keeps the site's own
	// file, from 1 to 1000000. When the table is full, one origin is dropped, in
	// this order: hosts that only a pattern such as `*.example.com` matches, hosts
	// whose file was never fetched, the least recently used. The next crawler of a
	// dropped origin waits for a fetch. Set it above the number of your hosts.
	// Default: 1000.
	//
	//	max_origins 5000
	MaxOrigins int `json:"max_origins,omitempty"`

	// Whether the handler answers /robots.txt with the file from the source, so that
	// crawlers read the rules in force. It is an error with the source `site`, because
	// the site serves its own file. With a step that adds lines to the file, such as
	// `policy`, the handler answers /robots.txt anyway. In monitor mode, it does neither.
	// Default: false.
	//
	//	source file /etc/caddy/robots.txt
	//	publish
	Publish *bool `json:"publish,omitempty"`

	// `enforce` refuses requests. `monitor` refuses nothing: it counts and logs what
	// `enforce` would refuse, and clients get the site's own /robots.txt, without
	// `publish` and `policy`. X-Robots-Tag headers are sent in both modes. The admin API
	// changes the mode of a running server.
	// Default: `enforce`.
	//
	//	mode monitor {
	//		enforce GPTBot Bytespider seo
	//	}
	Mode string `json:"mode,omitempty"`

	// In the mode `monitor`, names and purposes of crawlers whose requests are refused,
	// so that you can begin step by step. A purpose leaves out search engines that have
	// it too, such as Googlebot; only their names include them. Only the crawlers in the
	// list read a file that the handler publishes. Default: none.
	Enforced []string `json:"enforced,omitempty"`

	// The mode of some hosts of the block, in place of `mode`. `off` leaves them alone:
	// their requests pass as if there were no `robots`, uncounted, without X-Robots-Tag
	// headers and without a fetch of their robots.txt. Each host is a name, or a pattern
	// in which a `*` stands for one label; names go before patterns. Unlike a matcher, the
	// line changes nothing for the other hosts. May be repeated. Default: none.
	//
	//	host t123.example *.staging.example off
	//	host shop.example monitor
	Hosts []HostMode `json:"hosts,omitempty"`

	// The version of the robots.txt language. `rfc9309`: the longest matching rule
	// decides, and `*` and `$` are wildcards. `1994`: the first matching rule decides,
	// there are no wildcards, and a blank line ends a group. `1996`: like `1994`, and a
	// line may have several values. With either, Google's crawlers get what this version
	// or Google's own parser allows, unless `strict` is on. Default: `rfc9309`.
	//
	//	dialect 1994
	Dialect string `json:"dialect,omitempty"`

	// Crawlers that are never refused, by a name or token in the registry, or the name
	// of a probe. With `from`, only requests from these addresses and CIDR ranges are
	// exempt; without it, every client that sends the name is, unless `verify` refutes
	// the claim. A program of your own needs a `crawler` block too. Programs on the
	// server come from 127.0.0.1 or ::1. Default: none.
	//
	//	exempt GTmetrix from 198.51.100.16/28
	//	exempt OurMonitor from 127.0.0.1 ::1
	//	crawler OurMonitor {
	//		user_agents our-monitor
	//	}
	Exempt []Exemption `json:"exempt,omitempty"`

	// Paths, in robots.txt syntax, on which nothing is refused. /robots.txt is always
	// one of them. The line replaces the default, so repeat `/.well-known/*`, which
	// security.txt, apps and certificates need. Default: `/.well-known/*`.
	//
	//	exempt_paths /.well-known/* /status$
	ExemptPaths []string `json:"exempt_paths,omitempty"`

	// Whether the group for `*` applies to HTTP libraries (curl, python-requests,
	// Go-http-client) and to requests without a User-Agent, with a budget for each
	// client address. Clients of your API look the same, and so do apps that send only
	// the name of their library (`okhttp/4.12`): exclude their paths with a matcher or
	// `exempt_paths`. To refuse only some libraries, leave it off and give these a
	// group of their own, which applies to them in any case. Default: false.
	//
	//	http_clients on
	HTTPClients *bool `json:"http_clients,omitempty"`

	// Whether the group for `*` applies to programs that send only their name
	// (`SiteSweeper/2.0`), and to tools that fetch single documents (Terraform,
	// Dependabot). `on` also refuses programs on people's computers, such as the link
	// preview of an office suite. A group that names a program applies to it in any case.
	// Default: `off`.
	//
	//	programs on
	Programs string `json:"programs,omitempty"`

	// Whether the group for `*` applies to the GET and HEAD requests of fetchers that act
	// for a person (ChatGPT-User, link previews, feed readers). With `on`, previews of
	// links and AI assistants can't fetch pages that `*` disallows, even if their
	// operator says that they ignore robots.txt. A group that names a fetcher applies to
	// it in any case. Default: true.
	//
	//	user_triggered off
	UserTriggered *bool `json:"user_triggered,omitempty"`

	// Whether every rule applies to every crawler, even if its operator documents that
	// it ignores the rule. Then the group for `*` applies to AdsBot-Google, and to
	// self-declared crawlers that change something or send credentials; the Crawl-delay of `*` to
	// Googlebot; and RFC 9309 where Google's own parser differs. `user_triggered off`, and
	// `star no` and `crawl_delay no` of a `crawler` block, have precedence in the same
	// block, and in a site's block over `strict` of the global option. A crawler that gets
	// an unexpected 403 or 429 may drop pages. Default: false.
	//
	//	strict on
	Strict *bool `json:"strict,omitempty"`

	// Whether the site's host is taken from X-Forwarded-Host, if the request comes from
	// one of Caddy's `trusted_proxies`. Many load balancers pass on the value that the
	// client sent, who could then choose another site's rules: set it only if your proxy
	// replaces the field. Default: false.
	//
	//	forwarded_host on
	ForwardedHost *bool `json:"forwarded_host,omitempty"`

	// Crawlers to add to the registry, or facts about a known crawler to override. Facts
	// that a block does not mention stay. Default: none.
	//
	//	crawler OurIndexer {
	//		user_agents our-indexer
	//		robots OurIndexer Googlebot
	//		purpose intranet
	//		verify dns crawl.example.com
	//	}
	Crawlers []Crawler `json:"crawlers,omitempty"`

	// A file with more crawlers, one JSON object in each line with the fields of
	// `crawler`, or the https URL of such a file. A file is read again when it changes,
	// and its rows replace built-in rows with the same name; if one line has a mistake,
	// the whole file is ignored and the log names the line. A URL is fetched every 6
	// hours; its rows are only added, and the last good copy is kept in Caddy's storage.
	// Default: none.
	//
	//	registry /etc/caddy/crawlers.jsonl
	Registry string `json:"registry,omitempty"`

	// What refused requests get in place of the default answer, one line for each
	// verdict. Values that would harm the site in search engines are errors. Default: 403,
	// 429 or 503 with a sentence that says why; for `hidden` 404.
	//
	//	answer disallowed 451 "See https://example.com/terms"
	Answers []Answer `json:"answers,omitempty"`

	// Which other spellings your back end treats as the same path. Percent escapes, dot
	// segments and double slashes are always resolved; on Windows also `\`, dots and blanks
	// at the end of a name, and streams such as `::$DATA`, but no short names such as
	// `PRIVAT~1`, which Caddy's file server refuses. Each value adds forms that are checked;
	// none allows more. No value covers PATH_INFO, such as `/index.php/private/x` for
	// `/private/x`. Default: none.
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

	// X-Robots-Tag headers by file name, path, regular expression, media type or status.
	// A response gets the headers of all lines that match. A crawler never sees the header
	// of a path that robots.txt disallows: `caddy robots lint --config` finds such lines.
	// Default: none.
	//
	//	x_robots_tag *.pdf noindex, nofollow
	//	x_robots_tag type application/zip none
	XRobotsTag []headers.Setting `json:"x_robots_tag,omitempty"`

	// Whether paths that a `Noindex:` line of robots.txt matches get
	// `X-Robots-Tag: noindex`. Search engines no longer obey these lines themselves, so
	// pages leave the index: look at the lines of an old file first. The lines of a
	// crawler's own group make a header that names the crawler; those of the group for `*`
	// apply to all other clients. Default: false.
	//
	//	noindex_lines on
	NoindexLines *bool `json:"noindex_lines,omitempty"`

	// Whether the Content-Signal and Content-Usage lines of the client's group are sent as
	// header fields, and its License lines as `Link: <…>; rel="license"`. Default: false.
	//
	//	signals on
	Signals *bool `json:"signals,omitempty"`

	// What a handler does not use of the app's `defaults`, by names: `answers`, `exempt`,
	// `hosts`, `paths`, `registry`, `x_robots_tag` and
	// the names of steps. In `defaults`, the names of steps that are on by default and are off
	// for all sites. Default: none.
	Off []string `json:"off,omitempty"`

	// The places of options in the configuration file, such as
	// `{"registry": "Caddyfile:12"}`. Errors about files and URLs that are found at load
	// begin with them. Default: none.
	Places Places `json:"places,omitempty"`
}
