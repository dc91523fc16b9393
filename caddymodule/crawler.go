package caddymodule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/registry"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Crawler adds a crawler to the registry, or overrides facts about a crawler in
// it. For a known crawler, a field that is left out keeps the fact of the
// registry. The defaults of the fields are those of a new crawler.
type Crawler struct {
	// The name of the crawler. Upper and lower case are the same.
	Name string `json:"name"`

	// The words in a User-Agent that identify the crawler. They match as whole
	// words; upper and lower case are the same. Words that browsers send are an
	// error, because people would be taken for the crawler. Default: the name.
	UserAgents []string `json:"user_agents,omitempty"`

	// The product tokens of the robots.txt groups that the crawler obeys, the
	// most specific one first. Default: the first value of `user_agents`.
	Robots []string `json:"robots,omitempty"`

	// The company or person that runs the crawler. Default: none.
	Operator string `json:"operator,omitempty"`

	// What the crawler's operator uses the pages for, such as `search` or
	// `ai-training`: a purpose of the registry, or one of your own in
	// lower-case letters, digits and hyphens. Default: none.
	Purpose string `json:"purpose,omitempty"`

	// `crawler`; `user-triggered`, a fetcher that acts for a person; `scraper`,
	// an offline browser or scraping framework; `webhook`, which delivers events
	// that the site asked for; or `library`, an HTTP library. Default: `webhook`
	// for the purpose `webhook`, otherwise `crawler`.
	Class string `json:"class,omitempty"`

	// Who runs the software: `operator`, only the crawler's operator; or
	// `anyone`, any person or company on their own machines. With `anyone`,
	// each client address has its own budget. Default: `anyone` for the classes
	// `scraper` and `library`, otherwise `operator`.
	RunBy string `json:"run_by,omitempty"`

	// Whether the group `User-agent: *` applies to the crawler if no group names
	// it: `yes` or `no`. Default: `yes`.
	Star string `json:"star,omitempty"`

	// Whether the crawler honours Crawl-delay: `yes` or `no`. With `no`, the
	// Crawl-delay, Request-rate and Visit-time of the group `User-agent: *` do not
	// apply to it, and `policy` gives it no delay. Those of a group that names the
	// crawler always apply. Default: `yes`.
	CrawlDelay string `json:"crawl_delay,omitempty"`

	// How `verify` checks whether a client is this crawler. Default: no method,
	// so that the claim can't be checked.
	Verify *CrawlerVerify `json:"verify,omitempty"`
}

// row converts the crawler to a row of a registry. Facts that c does not have
// are taken from the row of base with the same name.
func (c *Crawler) row(base *crawler.Registry) (row crawler.Crawler, err error) {
	for known := range base.All() {
		if strings.EqualFold(known.Name, c.Name) {
			row = *known
		}
	}
	if row.Name == "" {
		row = crawler.Crawler{Name: c.Name, UserAgents: []string{c.Name}, Class: crawler.Registered}
	}
	if len(c.UserAgents) > 0 {
		row.UserAgents = c.UserAgents
	}
	if len(c.Robots) > 0 {
		row.Robots = c.Robots
	} else if len(row.Robots) == 0 {
		row.Robots = row.UserAgents[:1]
	}
	if c.Operator != "" {
		row.Operator = c.Operator
	}
	if c.Purpose != "" {
		row.Purpose = crawler.Purpose(c.Purpose)
	}
	switch {
	case c.Class != "":
		if row.Class, err = crawler.ParseClass(c.Class); err != nil {
			return row, err
		}
		if row.Class == crawler.Webhook && c.Purpose == "" {
			row.Purpose = crawler.WebhookEvent
		}
	case row.Purpose == crawler.WebhookEvent:
		row.Class = crawler.Webhook
	}
	if c.RunBy != "" {
		if row.RunBy, err = crawler.ParseRunBy(c.RunBy); err != nil {
			return row, fmt.Errorf("run_by: %w", err)
		}
	}
	if c.Verify != nil {
		c.Verify.apply(&row)
	}
	if row.Star, err = tri("star", c.Star, row.Star); err != nil {
		return row, err
	}
	row.CrawlDelay, err = tri("crawl_delay", c.CrawlDelay, row.CrawlDelay)
	return row, err
}

// tri parses yes or no; an empty value returns before.
func tri(name, value string, before crawler.Tri) (crawler.Tri, error) {
	switch value {
	case "":
		return before, nil
	case "yes":
		return crawler.Yes, nil
	case "no":
		return crawler.No, nil
	}
	return before, fmt.Errorf("%s %q: want yes or no", name, value)
}

// withCrawlers returns a registry with the crawlers of the configuration added.
func withCrawlers(registry *crawler.Registry, crawlers []Crawler) (*crawler.Registry, error) {
	if len(crawlers) == 0 {
		return registry, nil
	}
	rows := make([]crawler.Crawler, len(crawlers))
	for i := range crawlers {
		var err error
		if rows[i], err = crawlers[i].row(registry); err != nil {
			return nil, fmt.Errorf("crawler %q: %w", crawlers[i].Name, err)
		}
	}
	return registry.With(rows...)
}

// checkCrawlers returns an error if crawlers of the configuration conflict with
// each other or with the built-in registry. With a registry file they are
// checked when the configuration is loaded, because adapting a Caddyfile reads
// no other files.
func (h *Handler) checkCrawlers() error {
	if h.Registry != "" {
		return nil
	}
	_, err := withCrawlers(crawler.Builtin(), h.Crawlers)
	return err
}

// parseCrawler parses
//
//	crawler <name> {
//		user_agents <tokens...>
//		robots      <tokens...>
//		operator    <name>
//		purpose     <purpose>
//		class       crawler | user-triggered | scraper | webhook | library
//		run_by      operator | anyone
//		star        yes | no
//		crawl_delay yes | no
//		verify      lists <urls...> | dns <suffixes...> | signatures <urls...> | none
//	}
func parseCrawler(h *Handler, d *caddyfile.Dispenser) error {
	var c Crawler
	var err error
	if c.Name, err = one(d); err != nil {
		return err
	}
	head := *d // for errors about the whole block
	field := func(f *string) func(*Handler) *string { return func(*Handler) *string { return f } }
	list := func(f *[]string) func(*Handler) *[]string { return func(*Handler) *[]string { return f } }
	err = parseBlock(h, d, map[string]subdirective{
		"user_agents": words(list(&c.UserAgents), checkUserAgentToken),
		"robots":      words(list(&c.Robots), nil),
		"operator":    text(field(&c.Operator)),
		"purpose":     withCheck(text(field(&c.Purpose)), func() error { return checkPurpose(c.Purpose) }),
		"class":       choice(field(&c.Class), "crawler", "user-triggered", "scraper", "webhook", "library"),
		"run_by":      choice(field(&c.RunBy), "operator", "anyone"),
		"star":        choice(field(&c.Star), "yes", "no"),
		"crawl_delay": choice(field(&c.CrawlDelay), "yes", "no"),
		"verify":      parseCrawlerVerify(&c),
	})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(h.Crawlers, func(other Crawler) bool { return strings.EqualFold(other.Name, c.Name) }) {
		return head.Errf("crawler %s is defined twice", c.Name)
	}
	h.Crawlers = append(h.Crawlers, c)
	if err := h.checkCrawlers(); err != nil {
		return head.WrapErr(err)
	}
	return nil
}

// withCheck calls check after parse, so that its error names the line in the
// Caddyfile.
func withCheck(parse subdirective, check func() error) subdirective {
	return func(h *Handler, d *caddyfile.Dispenser) error {
		if err := parse(h, d); err != nil {
			return err
		}
		if err := check(); err != nil {
			return d.WrapErr(err)
		}
		return nil
	}
}

// checkUserAgentToken returns an error for a token that would match browsers.
func checkUserAgentToken(token string) error {
	if crawler.BrowserWord(token) {
		return fmt.Errorf("browsers send the word %q, so people would be taken for this crawler: give a word that only the crawler sends", token)
	}
	return nil
}

// parseRegistry parses
//
//	registry <file> | <url>
func parseRegistry(h *Handler, d *caddyfile.Dispenser) error {
	var err error
	if h.Registry, err = one(d); err != nil {
		return err
	}
	if h.Registry == "" {
		return d.Err("registry: want a file or an https URL")
	}
	if registry.IsURL(h.Registry) && !strings.Contains(h.Registry, "{") { // not a placeholder
		if err := registry.CheckURL(h.Registry); err != nil {
			return d.WrapErr(err)
		}
	}
	return nil
}
