package caddymodule

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// identifyOptions are the flags of `caddy robots identify`.
type identifyOptions struct {
	robots        string
	json, measure bool
	rules         enforce.Rules
}

func identifyCommand() *cobra.Command {
	var o identifyOptions
	cmd := &cobra.Command{
		Use:   "identify [--robots <file|url>] [--json] [--measure] <user-agent>...|-",
		Short: "Tells which crawler sends a User-Agent, and why",
		Long: `
Tells for each User-Agent which crawlers it names, or that it is a person's:
the class, the purpose, the robots.txt tokens, what the crawler would be held
to, and the part of the User-Agent that decided, with the reason.

With - the User-Agents come from standard input, one a line, up to a TAB where
there is one. With --robots the tokens that a robots.txt names count as well,
and the group that binds each crawler is named.

--measure prints how many of them are of each class, in place of each alone.`,
		Example: `  caddy robots identify "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
  cut -d'"' -f6 access.log | sort -u | caddy robots identify --measure -`,
		Args: cobra.MinimumNArgs(1),
		RunE: run(func(cmd *cobra.Command, args []string) (int, error) { return 0, o.identify(cmd, args) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.robots, "robots", "r", "", "robots.txt whose tokens count as well: a file or a URL")
	f.BoolVar(&o.json, "json", false, "print one JSON object a line")
	f.BoolVar(&o.measure, "measure", false, "print the share of each class")
	addRuleFlags(cmd, &o.rules)
	return cmd
}

// addRuleFlags adds the flags that choose whom robots.txt binds, as the
// subdirectives of the same names do.
func addRuleFlags(cmd *cobra.Command, rules *enforce.Rules) {
	f := cmd.Flags()
	f.BoolVar(&rules.HTTPClients, "http-clients", false, "hold HTTP libraries to the group for all, as http_clients on does")
	f.BoolVar(&rules.IgnoreUserTriggered, "no-user-triggered", false, "free user-triggered fetchers from the group for all, as user_triggered off does")
	f.BoolVar(&rules.Strict, "strict", false, "hold every crawler to everything, as strict on does")
}

// identified is what identify prints of one User-Agent.
type identified struct {
	UserAgent string               `json:"user_agent"`
	Class     string               `json:"class"`
	Crawlers  []identifiedCrawler  `json:"crawlers,omitempty"`
	Browser   *crawler.Description `json:"browser,omitempty"`
}

// identifiedCrawler is one crawler of it.
type identifiedCrawler struct {
	Crawler  string   `json:"crawler"`
	Class    string   `json:"class"`
	Operator string   `json:"operator,omitempty"`
	Purpose  string   `json:"purpose,omitempty"`
	Tokens   []string `json:"tokens"`
	HeldTo   string   `json:"held_to"`
	Evidence string   `json:"evidence,omitempty"`
	Start    int      `json:"start"`
	End      int      `json:"end"`
	Reason   string   `json:"reason"`
}

// identify does the command's work. An error is all that can go wrong.
func (o *identifyOptions) identify(cmd *cobra.Command, args []string) error {
	policy, matcher, err := o.policy(cmd.Context())
	if err != nil {
		return err
	}
	list := io.Reader(strings.NewReader(strings.Join(args, "\n")))
	if len(args) == 1 && args[0] == "-" {
		list = cmd.InOrStdin()
	}
	if o.measure {
		m, err := matcher.MeasureList(list, nil)
		if err != nil {
			return err
		}
		if o.json {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(measured(&m))
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.TrimRight(m.String(), "\n"))
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	_, err = matcher.MeasureList(list, func(ua string, id *crawler.Identity) {
		found := o.describe(policy, ua, id)
		if o.json {
			_ = json.NewEncoder(out).Encode(found) // Flush tells
			return
		}
		found.write(out)
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// measured is a Measure as JSON.
func measured(m *crawler.Measure) map[string]any {
	classes, purposes := make(map[string]int), make(map[string]int)
	for class, n := range m.Classes {
		classes[crawler.Class(class).String()] = n
	}
	for purpose, n := range m.Purpose {
		purposes[string(purpose)] = n
	}
	return map[string]any{"total": m.Total, "classes": classes, "purposes": purposes}
}

// policy is that of --robots, or of an empty file, and what tells crawlers
// apart under it.
func (o *identifyOptions) policy(ctx context.Context) (*enforce.Policy, *crawler.Matcher, error) {
	var body []byte
	if o.robots != "" {
		var err error
		if body, err = readRobots(ctx, o.robots, strings.NewReader("")); err != nil {
			return nil, nil, err
		}
	}
	engine, err := enforce.NewEngine(o.rules, enforce.Inline(body), nil, enforce.PoliciesConfig{})
	if err != nil {
		return nil, nil, err
	}
	defer engine.Close()
	now := time.Now()
	policy := engine.Policies().Get(ctx, enforce.Origin{}, now)
	return policy, engine.Matcher(ctx, enforce.Origin{}, now), nil
}

func (o *identifyOptions) describe(policy *enforce.Policy, ua string, id *crawler.Identity) *identified {
	found := &identified{UserAgent: ua, Class: id.Class().String()}
	if id.Len() == 0 {
		d := crawler.Describe(ua)
		found.Browser = &d
	}
	for i := range id.Len() {
		a := id.At(i)
		c := identifiedCrawler{Crawler: a.Token, Class: a.Class.String(), Tokens: []string{a.Token}, Start: a.Start, End: a.End, Reason: a.Reason.String()}
		if a.End <= len(ua) {
			c.Evidence = ua[a.Start:a.End]
		}
		if a.Crawler != nil {
			c.Crawler, c.Operator, c.Purpose, c.Tokens = a.Crawler.Name, a.Crawler.Operator, string(a.Crawler.Purpose), a.Crawler.Robots
		}
		c.HeldTo = o.heldTo(policy, a)
		found.Crawlers = append(found.Crawlers, c)
	}
	return found
}

// heldTo says which group binds a crawler: that of the file at hand, or which
// one would.
func (o *identifyOptions) heldTo(policy *enforce.Policy, a *crawler.Agent) string {
	if o.robots != "" {
		if g := policy.Group(a); g != nil {
			return fmt.Sprintf("group %s, line %d", g.Token(), g.Line())
		}
		return "nothing"
	}
	switch {
	case a.Token == "" && !o.rules.BoundByStar(a.Class, a.Crawler):
		return "nothing"
	case a.Token == "":
		return "*"
	case o.rules.BoundByStar(a.Class, a.Crawler):
		return "its own group, else *"
	default:
		return "its own group"
	}
}

// write prints it for people.
func (f *identified) write(w io.Writer) {
	fmt.Fprintf(w, "%s\n", f.UserAgent)
	if f.Browser != nil {
		fmt.Fprintf(w, "    person: %s\n", browserWords(f.Browser))
	}
	for _, c := range f.Crawlers {
		fmt.Fprintf(w, "    %s: %s", c.Class, nameless(c.Crawler))
		for _, fact := range []string{c.Operator, c.Purpose} {
			if fact != "" {
				fmt.Fprintf(w, ", %s", fact)
			}
		}
		fmt.Fprintf(w, "\n        tokens   %s\n        held to  %s\n", strings.Join(c.Tokens, ", "), c.HeldTo)
		fmt.Fprintf(w, "        because  %q at %d-%d: %s\n", c.Evidence, c.Start, c.End, c.Reason)
	}
}

// browserWords tells what a person's User-Agent claims.
func browserWords(d *crawler.Description) string {
	words := strings.TrimSpace(d.Browser + " " + d.BrowserVersion)
	if words == "" {
		words = "no browser that is known"
	}
	if d.OS != "" {
		words += " on " + d.OS
	}
	if d.Mobile {
		words += ", mobile"
	}
	return words
}

// nameless gives a crawler without a token a name.
func nameless(token string) string {
	if token == "" {
		return "(no User-Agent)"
	}
	return token
}
