package config

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/editdistance"
	"github.com/caddy-robots/caddy-robots/robots"
)

// parser parses the block of the directive robots, or that of the global option.
type parser struct {
	*caddyfile.Dispenser
	head caddyfile.Dispenser // at the name of the line that is parsed

	settings *Settings
	off      []string
	defaults *Settings      // those of the global option; nil without
	global   bool           // the block is that of the global option
	later    []func() error // checks that need the whole block
}

// line parses the values of a line of a block, and the block that the line
// opens. The place of the line is added to its errors.
type line func(name string, values []string) error

// table has the parsers of the lines of a block, by the names of the lines.
type table map[string]line

// Parse parses the block of the directive robots. The defaults are those of the
// global option, nil without. Parse checks the settings together with the
// defaults, and returns the settings without them. off has the settings whose
// defaults are not used.
func Parse(d *caddyfile.Dispenser, defaults *Settings) (s Settings, off []string, err error) {
	p := &parser{Dispenser: d, settings: &s, defaults: defaults}
	err = p.directive(p.site())
	return s, p.off, err
}

// directive parses the block of a directive or of a global option, and checks
// its settings.
func (p *parser) directive(lines table) error {
	p.Next() // the directive's name
	if p.NextArg() {
		return p.Errf("unexpected %q: write the options of robots in a block", p.Val())
	}
	if err := p.block(lines, nil, "answer", "crawler", "exempt", "host", "limit", "notify", "x_robots_tag"); err != nil {
		return err
	}
	for _, check := range p.later {
		if err := check(); err != nil {
			return err
		}
	}
	return place(p.Dispenser, errors.Join(p.settings.checkOff(p.off), p.checkDefaultNames(), p.settings.Check()))
}

// site returns the lines of the directive robots.
func (p *parser) site() table {
	s := p.settings
	return table{
		"source":            p.source,
		"refresh":           duration(&s.Refresh, time.Second),
		"on_error":          choice(&s.OnError, errorActions),
		"max_origins":       number(&s.MaxOrigins, 1_000_000),
		"publish":           onOff(&s.Publish),
		"mode":              p.mode,
		"host":              p.orOff("hosts", p.host),
		"dialect":           one(p.dialect),
		"exempt":            p.orOff("exempt", p.exempt),
		"exempt_paths":      list(&s.ExemptPaths, judge.CheckPathPattern),
		"http_clients":      onOff(&s.HTTPClients),
		"programs":          choice(&s.Programs, programs),
		"user_triggered":    onOff(&s.UserTriggered),
		"strict":            onOff(&s.Strict),
		"forwarded_host":    onOff(&s.ForwardedHost),
		"forwarded_request": p.forwardedRequest,
		"crawler":           one(p.crawler),
		"registry":          p.orOff("registry", p.names("registry", one(p.registry))),
		"policy":            p.orOff("policy", p.policy),
		"grace":             choice(&s.Grace, graces),
		"answer":            p.orOff("answers", p.answer),
		"paths":             p.orOff("paths", p.paths),
		"crawl_delay":       p.crawlDelay,
		"limit":             p.orOff("limits", p.limit),
		"fleet":             p.orOff("fleet", p.names("fleet", one(p.fleet))),
		"verify":            p.orOff("verify", p.verify),
		"shed":              p.orOff("shed", p.shed),
		"challenge":         p.orOff("challenge", p.challenge),
		"x_robots_tag":      p.orOff("x_robots_tag", p.xRobotsTag),
		"noindex_lines":     onOff(&s.NoindexLines),
		"meta_robots":       onOff(&s.MetaRobots),
		"signals":           onOff(&s.Signals),
	}
}

// block parses the lines of a block. Each name may be given once, unless it is
// repeatable. Before the first line and after each line, block calls check, if it
// is not nil, so that the error has the place of the line.
func (p *parser) block(lines table, check func() error, repeatable ...string) error {
	seen := make(map[string]bool)
	for nesting := p.Nesting(); ; {
		if check != nil {
			if err := check(); err != nil {
				return place(p.Dispenser, err)
			}
		}
		if !p.NextBlock(nesting) {
			return nil
		}
		name := p.Val()
		parse, ok := lines[name]
		switch {
		case !ok && slices.Contains(globalLines, name):
			return placed{p.Errf("%s is for the whole process: write it in the global option robots, at the top of the Caddyfile", name)}
		case !ok:
			at := *p.Dispenser
			if advice := p.misplaced(name); advice != "" {
				return placed{at.Errf("%s is no line of this block: %s", name, advice)}
			}
			return placed{p.Errf("unknown subdirective %q%s", name, suggestion(name, slices.Values(slices.Sorted(maps.Keys(lines)))))}
		case seen[name] && !slices.Contains(repeatable, name):
			return placed{p.Errf("%s is given twice", name)}
		}
		seen[name], p.head = true, *p.Dispenser
		if err := parse(name, p.RemainingArgs()); err != nil {
			return place(p.Dispenser, err)
		}
	}
}

// blocks has the lines of each block in a block of robots.
var blocks = []struct{ head, lines string }{
	{"policy", "deny allow signal usage license hidden"},
	{"limit", "all each at_once each_at_once hosts except include"},
	{"crawl_delay", "max burst per max_entries"},
	{"verify", "impostors resolver lists dns signatures"},
	{"shed", "in_flight"},
	{"challenge /PATH", "over for trap"},
	{"crawler NAME", "user_agents robots operator purpose class run_by star crawl_delay verify"},
	{"fleet URL", "ca_file instances prefix deadline"},
}

// Advice for words that are no lines of any block.
const (
	denyAdvice   = "write Disallow into robots.txt, or deny into the block of policy: policy {\n\tdeny …\n}"
	exemptAdvice = "write exempt for crawlers, or exempt_paths for paths"
	rateAdvice   = "write limit for what all crawlers together may request, or Crawl-delay and Request-rate in robots.txt"
	fileAdvice   = "it is a line of robots.txt: write it into that file, or into the text of source inline"
	tagAdvice    = "write x_robots_tag with a pattern: x_robots_tag *.pdf noindex"
)

var elsewhere = map[string]string{
	"block": denyAdvice, "disallow": denyAdvice, "ban": denyAdvice, "reject": denyAdvice, "denylist": denyAdvice, "blacklist": denyAdvice,
	"whitelist": exemptAdvice, "allowlist": exemptAdvice, "ignore": exemptAdvice, "exclude": exemptAdvice,
	"rate_limit": rateAdvice, "rate": rateAdvice, "throttle": rateAdvice, "delay": rateAdvice,
	"crawl-delay": fileAdvice, "request-rate": fileAdvice, "user-agent": fileAdvice, "sitemap": fileAdvice,
	"noindex": tagAdvice, "nofollow": tagAdvice, "header": tagAdvice,
	"monitor": "write mode monitor", "enforce": "write mode enforce, or what to enforce in the block of mode monitor",
	"file": "write source file", "url": "write source url", "inline": "write source inline", "robots_txt": "write source file",
	"suspects": "write the paths of pages to challenge, and the trap into its block: challenge /PATH {\n\ttrap /calendar-all/*\n}",
	"no-ai":    "write policy no-ai", "no-training": "write policy no-training",
	"ignore_case": "write paths ignore_case", "strip_params": "write paths strip_params", "decode_twice": "write paths decode_twice",
}

// misplaced says what to write for a line that is no line of a block; "" if it may be any word.
func (p *parser) misplaced(name string) string {
	values := strings.Join(p.RemainingArgs(), " ")
	if _, ok := p.site()[name]; ok {
		return "write it beside the lines of robots, and not into their blocks"
	}
	for _, b := range blocks {
		if slices.Contains(strings.Fields(b.lines), name) {
			if name == "hidden" {
				values = "…" // which an error must not show
			}
			kind, _, _ := strings.Cut(b.head, " ")
			return fmt.Sprintf("write it into the block of %s: %s", kind, blockOf(b.head, strings.TrimSpace(name+" "+values)))
		}
	}
	if strings.HasSuffix(name, ":") {
		return fileAdvice
	}
	return elsewhere[strings.ToLower(name)]
}

// inBlock returns an error if the values of a line have a line of its block. rate is the line
// of the block that a rate stands for; "" if none.
func inBlock(name, rate string, values []string) error {
	at := slices.IndexFunc(blocks, func(b struct{ head, lines string }) bool { return strings.HasPrefix(b.head+" ", name+" ") })
	for i, v := range values {
		if at < 0 || v == "" {
			break
		}
		head, rest := strings.Join(append([]string{name}, values[:i]...), " "), strings.Join(values[i:], " ")
		if _, err := parseRate(v); rate != "" && err == nil {
			rest = rate + " " + rest
		} else if !slices.Contains(strings.Fields(blocks[at].lines), v) {
			continue
		}
		if i == 0 {
			head = blocks[at].head
		}
		return fmt.Errorf("%s: %s belongs into a block: %s", name, v, blockOf(head, rest))
	}
	return nil
}

// onlyBlock returns an error for the values of a line that has only a block.
func onlyBlock(name string, values []string) error {
	if err := inBlock(name, "", values); err != nil || len(values) == 0 {
		return err
	}
	advice := "it takes its options in a block"
	switch name {
	case "verify":
		if slices.Contains([]string{"on", "true", "yes"}, values[0]) {
			return fmt.Errorf("%s %s: write %s alone, which switches it on", name, values[0], name)
		}
	case "crawl_delay":
		advice += "; the delay itself is a line of robots.txt"
	}
	return fmt.Errorf("%s: unexpected %q: %s", name, values[0], advice)
}

// blockOf returns a block with one line, as it is written.
func blockOf(head, line string) string { return head + " {\n\t" + line + "\n}" }

// placed is an error with its place in the Caddyfile.
type placed struct{ error }

// place adds the place of d's token to an error, unless it has one. It returns
// nil if err is nil.
func place(d *caddyfile.Dispenser, err error) error {
	if _, ok := err.(placed); ok || err == nil {
		return err
	}
	return placed{d.WrapErr(err)}
}

// about returns an error with the setting that it is about, nil if err is nil.
func about(setting string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %w", setting, err)
}

// suggestion returns the end of an error that suggests the nearest known word,
// or "".
func suggestion(word string, known iter.Seq[string]) string {
	if near := editdistance.Nearest(word, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// choices are the values that a setting can have. An empty value stands for the
// default.
type choices []string

// check returns an error if a value is not among the choices.
func (c choices) check(name, value string) error {
	if value == "" || slices.Contains(c, value) {
		return nil
	}
	return fmt.Errorf("%s %q: want %s", name, value, strings.Join(c, " or "))
}

func choice(field *string, allowed choices) line {
	return one(func(name, value string) error {
		if value == "" {
			return fmt.Errorf("%s: want %s", name, strings.Join(allowed, " or "))
		}
		*field = value
		return allowed.check(name, value)
	})
}

// one returns a parser of a line with one value.
func one(set func(name, value string) error) line {
	return func(name string, values []string) error {
		if err := inBlock(name, "", values); err != nil {
			return err
		}
		if len(values) != 1 {
			return fmt.Errorf("%s takes one value, not %d", name, len(values))
		}
		return set(name, values[0])
	}
}

func duration(field *caddy.Duration, least time.Duration) line {
	return one(func(name, value string) error {
		v, err := caddy.ParseDuration(value)
		if err != nil {
			return fmt.Errorf("%s: %q is not a duration: write it as 30s, 5m or 1h", name, value)
		}
		if v < least {
			return fmt.Errorf("%s: %s is below %s", name, v, least)
		}
		*field = caddy.Duration(v)
		return nil
	})
}

// number returns a parser of a whole number from 1.
func number(field *int, most int) line {
	return one(func(name, value string) error {
		v, err := strconv.Atoi(value)
		if err != nil || v < 1 || v > most {
			return fmt.Errorf("%s: %q is not a whole number from 1 to %d", name, value, most)
		}
		*field = v
		return nil
	})
}

// text returns a parser of one value that is not empty.
func text(field *string) line {
	return one(func(name, value string) error {
		if value == "" {
			return fmt.Errorf("%s: the value is empty", name)
		}
		*field = value
		return nil
	})
}

// onOff returns a parser of on or off; no value means on.
func onOff(field **bool) line {
	return func(name string, values []string) error {
		value := strings.Join(values, " ")
		if len(values) > 0 && value != "on" && value != "off" {
			return fmt.Errorf("%s %q: want on or off", name, value)
		}
		*field = new(value != "off")
		return nil
	}
}

// list returns a parser of one or more values that are not empty.
func list(field *[]string, checks ...func(string) error) line {
	return func(name string, values []string) error {
		if len(values) == 0 {
			return fmt.Errorf("%s needs at least one value", name)
		}
		for _, v := range values {
			if v == "" {
				return fmt.Errorf("%s: a value is empty", name)
			}
			for _, check := range checks {
				if err := check(v); err != nil {
					return about(name+":", err)
				}
			}
		}
		*field = values
		return nil
	}
}

// dialect parses the line dialect.
func (p *parser) dialect(_, value string) error {
	p.settings.Dialect = value
	_, err := robots.ParseDialect(value)
	return about("dialect:", err)
}

// xRobotsTag parses the line x_robots_tag.
func (p *parser) xRobotsTag(_ string, values []string) error {
	rule, err := headers.ParseSetting(values)
	p.settings.XRobotsTag = append(p.settings.XRobotsTag, rule)
	return about("x_robots_tag:", err)
}
