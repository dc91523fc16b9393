package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/registry"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/editdistance"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

var (
	crawlerClasses = lines.Choices{"crawler", "user-triggered", "scraper", "webhook", "probe", "program", "library", "app"}
	runBy          = lines.Choices{"operator", "anyone"}
	yesNo          = lines.Choices{"yes", "no"}
)

// Crawler adds a crawler to the registry, or overrides facts about a crawler in
// it. For a known crawler, a field that is left out keeps the fact of the
// registry. The defaults of the fields are those of a new crawler.
type Crawler struct {
	// The name of the crawler, in any case.
	Name string `json:"name"`

	// The words in a User-Agent that identify the crawler, in any case. Default: the name.
	UserAgents []string `json:"user_agents,omitempty"`

	// The groups of robots.txt that it obeys, the most specific one first. Default: the first
	// of `user_agents`.
	Robots []string `json:"robots,omitempty"`

	// Who runs the crawler. Default: none.
	Operator string `json:"operator,omitempty"`

	// Purposes of the registry or your own, the main one first. Default: none.
	Purposes []string `json:"purposes,omitempty"`

	// `crawler`, `user-triggered`, `scraper`, `webhook`, `probe`, `program`, `library`, or
	// `app` (no group applies). Default: `webhook` for the purpose `webhook`, otherwise
	// `crawler`.
	Class string `json:"class,omitempty"`

	// `operator`; or `anyone`, so that each client address has its own budget. Default:
	// `anyone` for the classes `scraper`, `program` and `library`, otherwise `operator`.
	RunBy string `json:"run_by,omitempty"`

	// Whether the group for `*` applies if no group names it. Default: `yes`.
	Star string `json:"star,omitempty"`

	// Whether it honours Crawl-delay. With `no`, the limits of the group for `*` do not apply
	// to it. Default: `yes`.
	CrawlDelay string `json:"crawl_delay,omitempty"`

	// How `verify` checks its claims, in one or several lines. Default: not at all.
	Verify *CrawlerVerify `json:"verify,omitempty"`
}

// row converts the crawler to a row of a registry. Facts that c does not have
// are taken from the row of base with the same name.
func (c *Crawler) row(base *crawler.Registry) (row crawler.Crawler, err error) {
	row = crawler.Crawler{Name: c.Name, UserAgents: []string{c.Name}, Class: crawler.Registered}
	for known := range base.All() {
		if strings.EqualFold(known.Name, c.Name) {
			row = *known
		}
	}
	row.UserAgents = given(c.UserAgents, row.UserAgents)
	row.Robots = given(c.Robots, row.Robots, row.UserAgents[:min(1, len(row.UserAgents))])
	row.Operator = cmp.Or(c.Operator, row.Operator)
	row.Purposes = given(words.Map(c.Purposes, func(p string) crawler.Purpose { return crawler.Purpose(p) }), row.Purposes)
	switch {
	case c.Class != "":
		if row.Class, err = crawler.ParseClass(c.Class); err != nil {
			return row, err
		}
		if row.Class == crawler.Webhook && len(c.Purposes) == 0 {
			row.Purposes = []crawler.Purpose{crawler.WebhookEvent}
		}
	case row.Purpose() == crawler.WebhookEvent:
		row.Class = crawler.Webhook
	}
	if c.RunBy != "" {
		row.RunBy = crawler.RunBy(c.RunBy)
	}
	if v := c.Verify; v != nil {
		row.Verify = crawler.Verify{Ranges: v.Lists, Hosts: v.DNS, SignatureAgents: v.Signatures}
		confirmed := func(fact string) bool { return fact == "verify" } // by the site's operator, who writes it
		row.Unverified = slices.DeleteFunc(slices.Clone(row.Unverified), confirmed)
	}
	row.StarStated, row.CrawlDelayStated = c.Star != "", c.CrawlDelay != ""
	return row, cmp.Or(setFact("star", c.Star, &row.Star), setFact("crawl_delay", c.CrawlDelay, &row.CrawlDelay))
}

// given returns the first list that is not empty.
func given[T any](lists ...[]T) []T {
	return lists[max(0, slices.IndexFunc(lists, func(list []T) bool { return len(list) > 0 }))]
}

// setFact sets a fact to yes or no. An empty value leaves it as it is.
func setFact(name, value string, fact *crawler.Tri) error {
	switch value {
	case "yes":
		*fact = crawler.Yes
	case "no":
		*fact = crawler.No
	}
	return yesNo.Check(name, value)
}

// checkCrawlers returns an error for values that can't be used, as far as no
// registry is needed.
func checkCrawlers(crawlers []Crawler) error {
	for _, c := range crawlers {
		err := c.Verify.check()
		for _, p := range c.Purposes {
			err = cmp.Or(err, CheckPurpose(p))
		}
		if err != nil {
			return fmt.Errorf("crawler %q: %w", c.Name, err)
		}
	}
	return nil
}

// crawler parses the block crawler.
func (p *parser) crawler(_, name string) error {
	head, c := p.Head, Crawler{Name: name}
	err := p.Block(lines.Table{
		"user_agents": lines.List(&c.UserAgents, checkUserAgentToken),
		"robots":      lines.List(&c.Robots),
		"operator":    lines.Text(&c.Operator),
		"purpose":     lines.List(&c.Purposes, CheckPurpose),
		"class":       lines.Choice(&c.Class, crawlerClasses),
		"run_by":      lines.Choice(&c.RunBy, runBy),
		"star":        lines.Choice(&c.Star, yesNo),
		"crawl_delay": lines.Choice(&c.CrawlDelay, yesNo),
		"verify":      c.verify,
	}, nil, "verify")
	if err != nil {
		return err
	}
	s := p.settings
	if slices.ContainsFunc(s.Crawlers, func(other Crawler) bool { return strings.EqualFold(other.Name, c.Name) }) {
		return lines.Place(&head, fmt.Errorf("crawler %s is defined twice", c.Name))
	}
	s.Crawlers = append(s.Crawlers, c)
	if s.Registry != "" {
		return nil // the registry may override or add crawlers; it is read when the configuration is loaded
	}
	_, err = s.AddCrawlers(crawler.Builtin())
	return lines.Place(&head, err)
}

// checkUserAgentToken returns an error for a token that would match browsers.
func checkUserAgentToken(token string) error {
	if crawler.BrowserWord(token) {
		return fmt.Errorf("browsers send the word %q, so people would be taken for this crawler: "+
			"give a word that only the crawler sends", token)
	}
	return nil
}

// registry parses the line registry.
func (p *parser) registry(_, location string) error {
	if location == "" {
		return errors.New("registry: want a file or an https URL")
	}
	p.settings.Registry = location
	if registry.IsURL(location) && !hasPlaceholder(location) {
		return lines.About("registry:", registry.CheckURL(location))
	}
	return nil
}

// AddCrawlers returns a registry with the crawlers of the settings added.
func (s *Settings) AddCrawlers(registry *crawler.Registry) (*crawler.Registry, error) {
	if len(s.Crawlers) == 0 {
		return registry, nil
	}
	rows := make([]crawler.Crawler, len(s.Crawlers))
	for i, c := range s.Crawlers {
		var err error
		if rows[i], err = c.row(registry); err != nil {
			return nil, fmt.Errorf("crawler %q: %w", c.Name, err)
		}
	}
	return registry.With(rows...)
}

// CheckPurpose returns an error for a purpose that is malformed or looks like a
// misspelt one of the registry. Other purposes are allowed, because operators
// may define their own.
func CheckPurpose(purpose string) error {
	known := words.Strings(crawler.Builtin().Purposes())
	switch {
	case slices.Contains(known, purpose):
		return nil
	case strings.Trim(purpose, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || purpose == "":
		return fmt.Errorf("purpose %q: want letters in lower case, digits and hyphens, such as %s", purpose, strings.Join(known, ", "))
	}
	for _, k := range known {
		if editdistance.Between(purpose, k) <= len(k)/4 {
			return fmt.Errorf("purpose %q: did you mean %s?", purpose, k)
		}
	}
	return nil
}
