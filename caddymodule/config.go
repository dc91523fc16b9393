package caddymodule

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/robots"
)

// The kinds of Source.
const (
	fromSite   = "site"
	fromFile   = "file"
	fromInline = "inline"
	fromURL    = "url"
)

// The values of Handler.Mode and Handler.OnError.
const (
	modeEnforce    = "enforce"
	modeMonitor    = "monitor"
	onErrorKeep    = "last_good"
	onErrorDeny    = "deny"
	countByIP      = "ip"
	countByCrawler = "crawler"
)

// Source tells where the rules come from.
type Source struct {
	// `site`: the site's own /robots.txt, asked for in process, each origin
	// its own; `file`; `inline`; or `url`. Default: `site`.
	Kind string `json:"kind,omitempty"`

	// The file's path, for `file`. Placeholders that are known when the
	// configuration is loaded, such as `{env.ROBOTS}`, are replaced.
	Path string `json:"path,omitempty"`

	// The text, for `inline`.
	Text string `json:"text,omitempty"`

	// The absolute URL, for `url`. Placeholders as in the path.
	URL string `json:"url,omitempty"`
}

// Paths tells what else the back end takes for the same path, beside percent
// escapes, dot segments and double slashes, which are always seen through.
// All are off by default.
type Paths struct {
	// The back end ignores the case of paths, as on Windows.
	IgnoreCase bool `json:"ignore_case,omitempty"`

	// The back end cuts `;parameters` off path segments, as servlet
	// containers do.
	StripParams bool `json:"strip_params,omitempty"`

	// The back end decodes percent escapes twice.
	DecodeTwice bool `json:"decode_twice,omitempty"`
}

// CrawlDelay tells how the pace that robots.txt asks for is enforced.
type CrawlDelay struct {
	// A longer Crawl-delay is enforced as this. Default: 24h.
	Max caddy.Duration `json:"max,omitempty"`

	// Hold a request up to this long until its time has come, in place of
	// a 429. At most 10m. Default: 0s.
	Wait caddy.Duration `json:"wait,omitempty"`

	// How many requests may come at once where a Crawl-delay is kept on the
	// whole. Default: 1.
	Burst int `json:"burst,omitempty"`

	// How many budgets the process holds; of more, those that would be free
	// soonest are forgotten. A reload that changes it forgets them all.
	// Default: 100000.
	MaxEntries int `json:"max_entries,omitempty"`

	// What a budget is counted by: `crawler`, across its addresses, or `ip`,
	// each client address of each crawler. HTTP libraries, which many people
	// share, are counted by address always (IPv4 /32, IPv6 /64). Default:
	// `crawler`.
	Per string `json:"per,omitempty"`
}

// kind is the source's kind, with the default.
func (h *Handler) kind() string {
	if h.Source == nil || h.Source.Kind == "" {
		return fromSite
	}
	return h.Source.Kind
}

// newSource makes the source that the configuration names.
func (h *Handler) newSource(repl *caddy.Replacer) (enforce.Source, error) {
	switch h.kind() {
	case fromSite:
		return siteSource{}, nil
	case fromInline:
		return enforce.Inline(h.Source.Text), nil
	case fromFile:
		path := repl.ReplaceAll(h.Source.Path, "")
		if path == "" {
			return nil, errors.New("source file: no path")
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("source file: %w", err)
		}
		if info.IsDir() {
			return nil, fmt.Errorf("source file: %s is a folder", path)
		}
		return enforce.File{Path: path}, nil
	case fromURL:
		source, err := enforce.NewURL(repl.ReplaceAll(h.Source.URL, ""))
		if err != nil {
			return nil, fmt.Errorf("source url: %w", err)
		}
		return source, nil
	}
	return nil, fmt.Errorf("source %q: want site, file, inline or url", h.Source.Kind)
}

// rules are the operator's choices as the engine takes them.
func (h *Handler) rules() (enforce.Rules, error) {
	dialect := robots.RFC9309
	if h.Dialect != "" {
		var err error
		if dialect, err = robots.ParseDialect(h.Dialect); err != nil {
			return enforce.Rules{}, err
		}
	}
	r := enforce.Rules{
		Dialect:             dialect,
		Exempt:              h.Exempt,
		ExemptPaths:         h.ExemptPaths,
		HTTPClients:         h.HTTPClients,
		IgnoreUserTriggered: h.UserTriggered != nil && !*h.UserTriggered,
		Strict:              h.Strict,
		Signals:             h.Signals,
	}
	if h.ExemptPaths == nil {
		r.ExemptPaths = []string{"/.well-known/*"}
	}
	if p := h.Paths; p != nil {
		r.Views = robots.ViewOptions{FoldCase: p.IgnoreCase, StripParams: p.StripParams, DecodeTwice: p.DecodeTwice}
	}
	if c := h.CrawlDelay; c != nil {
		r.MaxDelay, r.Wait, r.Burst, r.PerIP = time.Duration(c.Max), time.Duration(c.Wait), c.Burst, c.Per == countByIP
	}
	if h.Mode == modeMonitor {
		r.Wait = 0
	}
	return r, nil
}

// Validate reports what is wrong with the configuration on its own, without
// looking at anything outside.
func (h *Handler) Validate() error {
	if err := oneOf("mode", h.Mode, "", modeEnforce, modeMonitor); err != nil {
		return err
	}
	if err := oneOf("on_error", h.OnError, "", onErrorKeep, onErrorDeny); err != nil {
		return err
	}
	if h.Refresh != 0 && time.Duration(h.Refresh) < time.Second {
		return fmt.Errorf("refresh %s is below 1s", time.Duration(h.Refresh))
	}
	if h.MaxOrigins < 0 {
		return fmt.Errorf("max_origins %d is below 1", h.MaxOrigins)
	}
	if h.Publish && h.kind() == fromSite {
		return errors.New("publish goes with source file, inline or url: the site publishes its own robots.txt already")
	}
	if c := h.CrawlDelay; c != nil {
		if err := c.validate(); err != nil {
			return err
		}
	}
	for _, c := range h.Crawlers {
		if c.Purpose == "" {
			continue
		}
		if err := checkPurpose(c.Purpose); err != nil {
			return fmt.Errorf("crawler %q: %w", c.Name, err)
		}
	}
	if h.Fleet != nil {
		return h.Fleet.validate()
	}
	return nil
}

func (c *CrawlDelay) validate() error {
	switch {
	case c.Max < 0:
		return errors.New("crawl_delay max is negative")
	case c.Wait < 0 || time.Duration(c.Wait) > maxWait:
		return fmt.Errorf("crawl_delay wait %s is not between 0s and %s", time.Duration(c.Wait), maxWait)
	case c.Burst < 0 || c.Burst > maxBurst:
		return fmt.Errorf("crawl_delay burst %d is not between 1 and %d", c.Burst, maxBurst)
	case c.MaxEntries < 0 || c.MaxEntries > mostEntries:
		return fmt.Errorf("crawl_delay max_entries %d is not between 1 and %d", c.MaxEntries, mostEntries)
	}
	return oneOf("crawl_delay per", c.Per, "", countByCrawler, countByIP)
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
