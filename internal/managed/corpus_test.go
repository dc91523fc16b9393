package managed

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/reference"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// corpusPolicies are the policies that each real file is merged with.
var corpusPolicies = map[string]Policy{
	"no-training": {Presets: []Preset{{Name: "no-training"}}},
	"no-ai":       {Presets: []Preset{{Name: "no-ai"}}, License: []License{{URL: "https://example.com/rsl.xml"}}},
	"paths": {Deny: []Deny{{Crawlers: []string{"seo", "archive"}, Paths: []string{"/archive/*", "/*.pdf$"}}, {Crawlers: []string{"Googlebot"}, Paths: []string{"/drafts/"}}},
		Delay: []Delay{{Crawlers: []string{"feed", "seo"}, Interval: "10s"}}},
	"names":   {Deny: []Deny{{Crawlers: []string{"Googlebot", "bingbot", "YandexBot", "Baiduspider", "ia_archiver", "wget", "MJ12bot", "Slurp"}}}},
	"signals": {Signal: []Preference{{Key: "search", Value: "yes"}, {Key: "ai-train", Value: "no"}}, Usage: []Preference{{Key: "train-ai", Value: "n"}}, UsageInFile: true},
}

// realFiles returns the files of the corpus, and a few own ones.
func realFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{
		"own-1": []byte("User-agent: *\nDisallow: /cgi-bin/\nAllow: /cgi-bin/open\nCrawl-delay: 4\n\nUser-agent: Googlebot\nUser-agent: bingbot\nDisallow: /*.pdf$\nAllow: /\n\nUser-agent: Slurp\nCrawl-delay: 9\n"),
		"own-2": []byte("\ufeffUser-agent: Googlebot-Image\rDisallow: /\r\rUser-agent: wget\rDisallow: /\rUser-agent: *\rDisallow:\r"),
		"own-3": []byte("Disallow: /orphan\nUser-agent: *\n\nUser-agent: Yandex\nDisallow: /a /b\nDisallow: c/\nUser-agent: GPTBot"),
	}
	dir := os.Getenv("ROBOTS_CORPUS")
	if dir == "" {
		t.Log("ROBOTS_CORPUS is not set: testing own files only")
		return files
	}
	names, err := filepath.Glob(filepath.Join(dir, "real-robots", "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files in ROBOTS_CORPUS: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = data
	}
	return files
}

// For each real file and policy, the merged file has no new error, nothing
// changes for crawlers outside the policy, and the policy is enforced for those
// inside. A second implementation of robots.txt computes the verdicts.
func TestMergeOfRealFiles(t *testing.T) {
	registry := crawler.Builtin()
	files := realFiles(t)
	merges, verdicts := 0, 0
	for name, data := range files {
		for what, p := range corpusPolicies {
			l, err := p.Compile(registry)
			if err != nil {
				t.Fatal(err)
			}
			m, err := l.Merge(data, new(judge.Settings))
			if err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
				continue
			}
			merges++
			c := comparison{T: t, name: name + ", " + what, before: newNaive(data), after: newNaive(m.Text())}
			c.lint(data, m.Text())
			verdicts += c.compare(l)
			checkMerged(t, l, m, string(data))
		}
	}
	t.Logf("%d files, %d merges, %d verdicts compared", len(files), merges, verdicts)
	if merges != len(files)*len(corpusPolicies) {
		t.Errorf("%d merges of %d", merges, len(files)*len(corpusPolicies))
	}
}

// naive is a simple second implementation of robots.txt.
type naive struct {
	rules  map[string][]reference.Rule // by token in lower case
	delays map[string][]string
	sets   map[string]string // by token: a text of its rules, to recognise tokens with the same rules
	cache  map[string]bool
}

func newNaive(text []byte) *naive {
	n := &naive{rules: map[string][]reference.Rule{}, delays: map[string][]string{}, sets: map[string]string{}, cache: map[string]bool{}}
	var group, run []string
	open, inRun := false, false
	for l := range robots.Parse(text).Lines() {
		switch l.Directive {
		case robots.DirectiveUserAgent:
			if !open {
				group, open, inRun = nil, true, false
			}
			if !inRun {
				run, inRun = nil, true
			}
			if token := strings.ToLower(robots.ProductToken(l.Value)); token != "" {
				group, run = append(group, token), append(run, token)
				n.rules[token] = append(n.rules[token], reference.Rule{Allow: true}) // so that the token has a group, even without rules
			}
		case robots.DirectiveAllow, robots.DirectiveDisallow:
			open, inRun = false, false
			for _, token := range slices.Compact(slices.Sorted(slices.Values(group))) {
				if l.Value != "" {
					n.rules[token] = append(n.rules[token], reference.Rule{Allow: l.Directive == robots.DirectiveAllow, Pattern: l.Value})
				}
			}
		case robots.DirectiveCrawlDelay, robots.DirectiveRequestRate, robots.DirectiveVisitTime:
			inRun = false
			for _, token := range run {
				n.delays[token] = append(n.delays[token], l.Directive.String()+" "+l.Value)
			}
		}
	}
	for token, rules := range n.rules {
		var lines []string
		for _, r := range rules {
			lines = append(lines, fmt.Sprint(r))
		}
		slices.Sort(lines)
		n.sets[token] = strings.Join(slices.Compact(lines), "\n")
	}
	return n
}

// token returns the token of the group that applies to a crawler with these
// tokens, or "". If no line has a whole token, its first word counts.
func (n *naive) token(tokens []string, star bool) string {
	for _, t := range tokens {
		t = strings.ToLower(strings.TrimSuffix(t, "/"))
		if _, ok := n.rules[t]; ok {
			return t
		}
		for named := range n.rules {
			if rest, ok := strings.CutPrefix(named, t); ok && strings.HasPrefix(rest, " ") {
				return named
			}
		}
	}
	if _, ok := n.rules["*"]; ok && star {
		return "*"
	}
	return ""
}

func (n *naive) allowed(token, path string) bool {
	key := n.sets[token] + "\n" + path
	v, ok := n.cache[key]
	if !ok {
		v, _ = reference.Verdict(n.rules[token], path)
		n.cache[key] = v
	}
	return v
}

// paths returns at most limit paths that the rules match.
func (n *naive) paths(limit int) []string {
	seen := map[string]bool{"/": true, "/x": true}
	for _, rules := range n.rules {
		for _, r := range rules[:min(len(rules), limit)] {
			p := strings.TrimSuffix(r.Pattern, "$")
			if len(p) > 200 || len(seen) > 4*limit {
				continue
			}
			for _, path := range []string{strings.ReplaceAll(p, "*", ""), strings.ReplaceAll(p, "*", "x") + "x"} {
				if strings.HasPrefix(path, "/") {
					seen[path] = true
				}
			}
		}
	}
	list := make([]string, 0, len(seen))
	for p := range seen {
		list = append(list, p)
	}
	slices.Sort(list)
	return list[:min(len(list), limit)]
}

// comparison compares a merged file with the site's file.
type comparison struct {
	*testing.T
	name          string
	before, after *naive
}

// lint checks that the merged file has no error that the site's file does not
// have.
func (c *comparison) lint(before, after []byte) {
	had := lint.Lint(robots.Parse(before))
	own, err := readSite(before)
	if err != nil {
		c.Fatal(err)
	}
	open := own.open(robots.RFC9309)
	for _, f := range lint.Lint(robots.Parse(after)) {
		switch {
		case f.Severity != lint.Error:
		case slices.ContainsFunc(had, func(o lint.Finding) bool { return o.Code == f.Code && strings.HasPrefix(o.Text, f.Text) }): // a copy
		case f.Code == "joined-groups" && open: // the added Disallow reveals an error that the file had before
		default:
			c.Errorf("%s: a new error in line %d: %s: %s (%s)", c.name, f.Line, f.Code, f.Message, f.Text)
		}
	}
}

// compare returns the number of verdicts that it compared.
func (c *comparison) compare(l *Lines) (verdicts int) {
	paths := append(c.before.paths(16), c.after.paths(8)...)
	compared := map[[2]string]bool{}
	same := func(who, before, after string) {
		key := [2]string{c.before.sets[before], c.after.sets[after]}
		if compared[key] {
			return
		}
		compared[key] = true
		for _, path := range paths {
			verdicts++
			if was, is := c.before.allowed(before, path), c.after.allowed(after, path); was != is {
				c.Errorf("%s: %s at %s: %v before, %v after", c.name, who, path, was, is)
				return
			}
		}
	}
	inside := map[string]bool{}
	for row := range l.registry.All() {
		own := hasOwnGroup(c.before, l, row)
		cv := l.covers[row.Index()]
		says := terms{}
		if cv != nil {
			if says = cv.both; own {
				says = cv.named
			}
		}
		if !says.any || l.owner(row) != row {
			continue
		}
		token := c.after.token(row.Robots, true)
		for _, t := range append(row.Tokens(), row.Robots[0]) {
			inside[strings.ToLower(t)] = true
		}
		if says.all && nameable(row.Robots[0]) && (c.after.allowed(token, "/") || c.after.allowed(token, "/any/thing.html")) {
			c.Errorf("%s: %s is not denied", c.name, row.Name)
		}
		for _, p := range says.paths {
			path := example(p.pattern)
			if v := c.after.allowed(token, path); v && !c.siteAllows(token, path) {
				c.Errorf("%s: %s is allowed %s", c.name, row.Name, path)
			}
		}
	}
	for row := range l.registry.All() {
		if inside[strings.ToLower(row.Robots[0])] || row.Class == crawler.App {
			continue // no group binds an app
		}
		before, after := c.before.token(row.Robots, row.Star != crawler.No), c.after.token(row.Robots, row.Star != crawler.No)
		same(row.Name, before, after)
		was, is := c.before.delays[before], c.after.delays[after]
		if before == "*" && row.CrawlDelay == crawler.No && len(is) == 0 {
			continue // no limit was enforced for it
		}
		if !sameSet(was, is) {
			c.Errorf("%s: the limits of %s: %q before, %q after", c.name, row.Name, was, is)
		}
	}
	for token := range c.before.rules {
		if word, _, _ := strings.Cut(token, " "); !inside[token] && !inside[word] {
			same(token, token, c.after.token([]string{token}, true))
		}
	}
	return verdicts
}

// siteAllows reports whether an Allow rule matches the path.
func (c *comparison) siteAllows(token, path string) bool {
	for _, r := range c.after.rules[token] {
		if ok, n := reference.Match(r.Pattern, path); ok && r.Allow && n > 0 {
			return true
		}
	}
	return false
}

func hasOwnGroup(n *naive, l *Lines, row *crawler.Crawler) bool {
	for _, t := range l.ownTokens(row) {
		if n.token([]string{t}, false) != "" {
			return true
		}
	}
	return false
}

// sameSet reports whether two lists have the same limits, in any order and
// number.
func sameSet(a, b []string) bool {
	set := func(list []string) string {
		var normal []string
		for _, s := range list {
			normal = append(normal, normalised(s))
		}
		return fmt.Sprint(slices.Compact(slices.Sorted(slices.Values(normal))))
	}
	return set(a) == set(b)
}

// normalised returns a limit as the parser writes it, or "" if it is malformed.
func normalised(s string) string {
	f := robots.Parse([]byte("User-agent: *\n" + strings.Replace(s, " ", ": ", 1) + "\n"))
	g := f.Star()
	if d, ok := g.CrawlDelay(); ok {
		return d.String()
	}
	for _, r := range g.RequestRates() {
		return r.String()
	}
	for _, v := range g.VisitTimes() {
		return v.Window.String()
	}
	return ""
}
