package commands

import (
	"context"
	_ "embed"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/browser"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// identifyOptions are the flags of `caddy robots identify`.
type identifyOptions struct {
	robots string
	json   bool
	config cli.Selection
	rules  judge.Settings
}

func identifyCommand(m cli.Module) *cobra.Command {
	var o identifyOptions
	cmd := cli.NewCommand("identify [--robots <file|url>] [--config <file>] [--registry <file>] [--json] <user-agent>...",
		"Identifies the crawler that sends a User-Agent", cli.Needs(1, "a User-Agent"), o.identify)
	f := cmd.Flags()
	f.StringVarP(&o.robots, "robots", "r", "", "robots.txt whose tokens are recognised too: a file, a URL, or - for standard input")
	f.BoolVar(&o.json, "json", false, "print one JSON object per line")
	o.config.Add(cmd, m)
	cli.AddRuleFlags(cmd, m.ReadRegistry, &o.rules)
	return cmd
}

// identify runs the command.
func (o *identifyOptions) identify(cmd *cobra.Command, args []string) error {
	if err := o.config.Replace(cmd, &o.rules); err != nil {
		return err
	}
	rules, err := o.compile(cmd.Context(), cmd.InOrStdin())
	if err != nil {
		return err
	}
	var id crawler.Identity
	list := words.Map(args, func(arg string) identified {
		ua := oneLine.Replace(arg)
		rules.Matcher().Identify(ua, &id)
		return o.describe(rules, ua, &id)
	})
	if o.json {
		return cli.WriteLines(cmd.OutOrStdout(), list)
	}
	return cli.Layout{}.Execute(cmd.OutOrStdout(), identifyTemplate, nil, list)
}

//go:embed identify.txt
var identifyTemplate string

// oneLine replaces line breaks and TABs, which no User-Agent has, with blanks.
var oneLine = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// compile returns the rules of --robots, or of an empty file.
func (o *identifyOptions) compile(ctx context.Context, stdin io.Reader) (*judge.Rules, error) {
	var body []byte
	if o.robots != "" {
		var err error
		if body, err = cli.ReadRobots(ctx, o.robots, stdin); err != nil {
			return nil, err
		}
	}
	return o.rules.Rules(judge.Response{Status: http.StatusOK, Body: body})
}

// describe returns the result for a User-Agent.
func (o *identifyOptions) describe(rules *judge.Rules, ua string, id *crawler.Identity) identified {
	found := identified{UserAgent: ua, Class: id.Class().String()}
	for i := range id.Len() {
		found.Crawlers = append(found.Crawlers, o.crawler(rules, ua, id.At(i)))
	}
	if id.Len() == 0 {
		d := browser.Describe(ua)
		found.Browser = &d
	}
	return found
}

// crawler returns the result for one of the crawlers of a User-Agent.
func (o *identifyOptions) crawler(rules *judge.Rules, ua string, a *crawler.Agent) identifiedCrawler {
	c := identifiedCrawler{
		Crawler: a.Token, Class: a.Class.String(), Tokens: []string{a.Token},
		Text: ua[min(a.Start, len(ua)):min(a.End, len(ua))], Start: a.Start, End: a.End, Says: string(a.Reason), Strength: string(a.Reason.Strength()),
	}
	if row := a.Crawler; row != nil {
		c.Crawler, c.Operator, c.Purposes, c.Tokens = row.Name, row.Operator, words.Strings(row.Purposes), row.Robots
	}
	if o.robots == "" {
		c.HeldTo = groupWords(&o.rules, a)
	} else if g := rules.Group(a); g != nil {
		c.Group = rules.TokenOf(a, g)
		_, c.GroupLine = rules.Origin(g.Line())
	}
	return c
}

// groupWords describes the group of a robots.txt that would apply to a crawler.
func groupWords(rules *judge.Settings, a *crawler.Agent) string {
	switch star := rules.BoundByStar(a.Class, a.Crawler); {
	case a.Token == "" && star:
		return "*"
	case a.Token == "":
		return "nothing"
	case star:
		return "its own group, else *"
	default:
		return "its own group"
	}
}

// identified is the output of identify for one User-Agent.
type identified struct {
	UserAgent string               `json:"user_agent"`
	Class     string               `json:"class"`
	Crawlers  []identifiedCrawler  `json:"crawlers,omitempty"`
	Browser   *browser.Description `json:"browser,omitempty"` // only for a person
}

// identifiedCrawler is one of the crawlers that a User-Agent names.
type identifiedCrawler struct {
	Crawler   string   `json:"crawler"`
	Class     string   `json:"class"`
	Operator  string   `json:"operator,omitempty"`
	Purposes  []string `json:"purposes,omitempty"`
	Tokens    []string `json:"tokens"`
	HeldTo    string   `json:"would_apply,omitempty"` // without a robots.txt
	Group     string   `json:"group,omitempty"`       // with one
	GroupLine int      `json:"group_line,omitempty"`
	// Text is a part of the User-Agent, Start and End are its position in octets, and Says is
	// its meaning.
	Text     string `json:"evidence"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
	Says     string `json:"reason"`
	Strength string `json:"strength,omitempty"` // "token", "declaration" or "form"
}
