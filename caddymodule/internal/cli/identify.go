package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// identifyOptions are the flags of `caddy robots identify`.
type identifyOptions struct {
	robots        string
	json, measure bool
	rules         enforce.Rules
}

func identifyCommand(m Module) *cobra.Command {
	var o identifyOptions
	cmd := &cobra.Command{
		Use:   "identify [--robots <file|url>] [--registry <file>] [--json] [--measure] <user-agent>...|-",
		Short: "Tells which crawler sends a User-Agent, and why",
		Long: `
Tells for each User-Agent which crawlers it names, or that it is a person's:
the class, the purpose, the robots.txt tokens, what the crawler would be held
to, the part of the User-Agent that decided, with the reason, and how strong
that evidence is: a token of the registry or the robots.txt, the client's own
declaration that it is a robot, or no more than the form of the User-Agent.

With - the User-Agents come from standard input, one a line, up to a TAB where
there is one. With --robots the tokens that a robots.txt names count as well,
and the group that binds each crawler is named; with --registry so do the
crawlers of a file such as the subdirective registry takes.

--measure prints how many of them are recognised, how many the group for all
binds with the flags given and with http_clients on and programs on, how many
declare in so many words that they are robots (a word ending in bot, spider or
crawler, +http://, a name after "compatible;") and how many of those it binds,
and how many are of each class and purpose, instead of each User-Agent.`,
		Example: `  caddy robots identify "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
  cut -d'"' -f6 access.log | sort -u | caddy robots identify --measure -`,
		Args: cobra.MinimumNArgs(1),
		RunE: run(func(cmd *cobra.Command, args []string) (int, error) { return 0, o.identify(cmd, args) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.robots, "robots", "r", "", "robots.txt whose tokens count as well: a file, a URL, or - for standard input")
	f.BoolVar(&o.json, "json", false, "print JSON, an object a line")
	f.BoolVar(&o.measure, "measure", false, "print the number and share of each class and purpose")
	addRuleFlags(cmd, m, &o.rules)
	return cmd
}

// addRuleFlags adds the flags that choose whom robots.txt binds, as the
// subdirectives of the same names do.
func addRuleFlags(cmd *cobra.Command, m Module, rules *enforce.Rules) {
	f := cmd.Flags()
	f.BoolVar(&rules.HTTPClients, "http-clients", false, "hold HTTP libraries to the group for all, as http_clients on does")
	f.Var((*programsFlag)(&rules.Programs), "programs", "hold programs that give only their name to the group for all, as programs does: off, seen (those that read the robots.txt) or on")
	f.BoolVar(&rules.IgnoreUserTriggered, "no-user-triggered", false, "free user-triggered fetchers from the group for all, as user_triggered off does")
	f.BoolVar(&rules.Strict, "strict", false, "hold every crawler to everything, as strict on does")
	f.Var(&registryFlag{read: m.ReadRegistry, registry: &rules.Registry}, "registry", "file or URL of crawlers that are known as well, as registry does")
}

// programsFlag is the value of the flag --programs.
type programsFlag enforce.Programs

func (f *programsFlag) String() string { return enforce.Programs(*f).String() }
func (f *programsFlag) Type() string   { return "off|seen|on" }

// Set parses the value.
func (f *programsFlag) Set(s string) error {
	p, err := enforce.ParsePrograms(s)
	*f = programsFlag(p)
	return err
}

// registryFlag is the value of a flag that names a registry.
type registryFlag struct {
	path     string
	read     func(path string) (*crawler.Registry, error)
	registry **crawler.Registry
}

func (f *registryFlag) String() string { return f.path }
func (f *registryFlag) Type() string   { return "file|url" }

// Set reads the registry.
func (f *registryFlag) Set(path string) (err error) {
	f.path = path
	*f.registry, err = f.read(path)
	return err
}

// identify does the command's work. An error is all that can go wrong.
func (o *identifyOptions) identify(cmd *cobra.Command, args []string) error {
	list := argumentList(args)
	if len(args) == 1 && args[0] == "-" {
		if list = cmd.InOrStdin(); o.robots == "-" {
			return errors.New("standard input can be the list or the robots.txt, not both")
		}
	}
	policy, err := o.policy(cmd.Context(), cmd.InOrStdin())
	if err != nil {
		return err
	}
	matcher := policy.Matcher()
	out := bufio.NewWriter(cmd.OutOrStdout())
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var held heldCounts
	all := o.rules
	all.HTTPClients, all.Programs = true, enforce.ProgramsOn
	sum, err := matcher.MeasureList(list, func(ua string, id *crawler.Identity) {
		switch {
		case o.measure:
			held.add(crawler.DeclaresRobot(ua), boundByStar(&o.rules, id), boundByStar(&all, id))
		case o.json:
			_ = enc.Encode(o.describe(policy, matcher, ua, id)) // Flush tells
		default:
			o.describe(policy, matcher, ua, id).write(out)
		}
	})
	switch {
	case err != nil || !o.measure:
	case o.json:
		_ = enc.Encode(newMeasured(&sum, held))
	default:
		newMeasured(&sum, held).write(out)
	}
	return errors.Join(err, out.Flush())
}

// boundByStar reports whether the group for all binds one of the crawlers that
// a User-Agent names, as a GET without a group of its own.
func boundByStar(rules *enforce.Rules, id *crawler.Identity) bool {
	for i := range id.Len() {
		if a := id.At(i); rules.BoundByStar(a.Class, a.Crawler) {
			return true
		}
	}
	return false
}

// heldCounts counts the User-Agents of a list that the group for all binds.
type heldCounts struct {
	bound, boundAll         int // as the flags say, and with http_clients on and programs on
	declared, declaredBound int // that declare themselves robots, and those of them in boundAll
}

// add counts one User-Agent.
func (h *heldCounts) add(declared, bound, boundAll bool) {
	h.bound += one(bound)
	h.boundAll += one(boundAll)
	h.declared += one(declared)
	h.declaredBound += one(declared && boundAll)
}

// one is 1 where ok is true.
func one(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

// argumentList makes a list of User-Agents of arguments. What ends a line, or
// a User-Agent in it, can't be in a field of a request and stands for a blank.
func argumentList(args []string) io.Reader {
	var b strings.Builder
	oneLine := strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")
	for _, a := range args {
		b.WriteString(oneLine.Replace(a))
		b.WriteByte('\n')
	}
	return strings.NewReader(b.String())
}

// policy is that of --robots, or of an empty file.
func (o *identifyOptions) policy(ctx context.Context, stdin io.Reader) (*enforce.Policy, error) {
	var body []byte
	if o.robots != "" {
		var err error
		if body, err = readRobots(ctx, o.robots, stdin); err != nil {
			return nil, err
		}
	}
	return o.rules.Policy(enforce.Response{Status: http.StatusOK, Body: body})
}

// describe tells what was found out about a User-Agent.
func (o *identifyOptions) describe(policy *enforce.Policy, m *crawler.Matcher, ua string, id *crawler.Identity) *identified {
	found := &identified{UserAgent: ua, Class: id.Class().String()}
	for i := range id.Len() {
		found.Crawlers = append(found.Crawlers, o.crawler(policy, ua, id.At(i)))
	}
	if id.Len() == 0 {
		d := crawler.Describe(ua)
		found.Browser = &d
		for _, w := range m.Explain(ua).Words {
			found.Words = append(found.Words, evidence{w.Text, w.Start, w.End, w.Says, ""})
		}
	}
	return found
}

// crawler tells what was found out about one of the crawlers of a User-Agent.
func (o *identifyOptions) crawler(policy *enforce.Policy, ua string, a *crawler.Agent) identifiedCrawler {
	c := identifiedCrawler{
		Crawler: a.Token, Class: a.Class.String(), Tokens: []string{a.Token},
		evidence: evidence{ua[min(a.Start, len(ua)):min(a.End, len(ua))], a.Start, a.End, a.Reason.String(), a.Reason.Strength().String()},
	}
	if row := a.Crawler; row != nil {
		c.Crawler, c.Operator, c.Purpose, c.Tokens = row.Name, row.Operator, string(row.Purpose), row.Robots
	}
	if o.robots == "" {
		c.HeldTo = wouldHold(&o.rules, a)
	} else if g := policy.Group(a); g != nil {
		c.Group, c.GroupLine = g.Token(), g.Line()
	}
	return c
}

// wouldHold says which group of a robots.txt would bind a crawler.
func wouldHold(rules *enforce.Rules, a *crawler.Agent) string {
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

// Interface guards
var (
	_ pflag.Value = (*registryFlag)(nil)
	_ pflag.Value = (*programsFlag)(nil)
)
