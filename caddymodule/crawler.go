package caddymodule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Crawler adds a crawler to the registry, or overrides facts about a known one.
// Fields that are left out keep the registry's facts.
type Crawler struct {
	// Its name. Names are compared without regard to case.
	Name string `json:"name"`

	// The tokens by which its User-Agent names it. They match as whole words,
	// without regard to case. Default, for a new one: its name.
	UserAgents []string `json:"user_agents,omitempty"`

	// The groups of a robots.txt that it obeys, most specific first. Default,
	// for a new one: its first User-Agent token.
	Robots []string `json:"robots,omitempty"`

	// Who runs it.
	Operator string `json:"operator,omitempty"`

	// What it crawls for, such as search or ai-training.
	Purpose string `json:"purpose,omitempty"`

	// `crawler`, `user-triggered`, `offline`, `webhook` or `library`. Default,
	// for a new one: `crawler`, and `webhook` for the purpose of that name.
	Class string `json:"class,omitempty"`

	// Whose machines it runs on: `operator`, or `anyone`. Software that anyone
	// runs is counted per client address. Default, for a new one: `anyone` for
	// the classes `offline` and `library`, else `operator`.
	RunBy string `json:"run_by,omitempty"`

	// Whether `User-agent: *` binds it: `yes` or `no`. Default, for a new
	// one: `yes`.
	Star string `json:"star,omitempty"`

	// Whether the Crawl-delay of `User-agent: *` binds it: `yes` or `no`.
	// Default, for a new one: `yes`.
	CrawlDelay string `json:"crawl_delay,omitempty"`

	// How claims to be this crawler are checked, with verify. Default: as the
	// registry says.
	Verify *CrawlerVerify `json:"verify,omitempty"`
}

// row is the crawler as the registry has it, made of what base has of it.
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

// tri reads yes or no; nothing leaves what was known before.
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

// withCrawlers is a registry with the crawlers of the configuration.
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

// checkCrawlers reports conflicts among the crawlers that the configuration has
// so far. With a registry file they are found when the configuration is loaded,
// because adapting reads no files.
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
//		class       crawler | user-triggered | offline | webhook | library
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
	head := *d // errors about all of it name its first line
	field := func(f *string) func(*Handler) *string { return func(*Handler) *string { return f } }
	list := func(f *[]string) func(*Handler) *[]string { return func(*Handler) *[]string { return f } }
	err = parseBlock(h, d, map[string]subdirective{
		"user_agents": words(list(&c.UserAgents), checkUserAgentToken),
		"robots":      words(list(&c.Robots), nil),
		"operator":    text(field(&c.Operator)),
		"purpose":     then(text(field(&c.Purpose)), func() error { return checkPurpose(c.Purpose) }),
		"class":       choice(field(&c.Class), "crawler", "user-triggered", "offline", "webhook", "library"),
		"run_by":      choice(field(&c.RunBy), "operator", "anyone"),
		"star":        choice(field(&c.Star), "yes", "no"),
		"crawl_delay": choice(field(&c.CrawlDelay), "yes", "no"),
		"verify":      parseCrawlerVerify(&c),
	})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(h.Crawlers, func(other Crawler) bool { return strings.EqualFold(other.Name, c.Name) }) {
		return head.Errf("crawler %s stands here a second time", c.Name)
	}
	h.Crawlers = append(h.Crawlers, c)
	if err := h.checkCrawlers(); err != nil {
		return head.WrapErr(err)
	}
	return nil
}

// then checks a value at its place in the Caddyfile.
func then(parse subdirective, check func() error) subdirective {
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

// checkUserAgentToken reports a token that would match people's User-Agents.
func checkUserAgentToken(token string) error {
	if crawler.BrowserWord(token) {
		return fmt.Errorf("browsers send the word %q: people would be taken for this crawler", token)
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
	if isRegistryURL(h.Registry) && !strings.Contains(h.Registry, "{") { // not a placeholder
		if err := checkRegistryURL(h.Registry); err != nil {
			return d.WrapErr(err)
		}
	}
	return nil
}
