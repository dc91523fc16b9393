package managed

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/diff"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// corpusPolicies are the policies that each real file is merged with.
var corpusPolicies = map[string]Policy{
	"no-training": {Presets: []Statement{{Values: []string{"no-training"}}}},
	"no-ai":       {Presets: []Statement{{Values: []string{"no-ai"}}}, License: []Statement{{Values: []string{"https://example.com/rsl.xml"}}}},
	"paths": {Deny: []Statement{
		{Values: []string{"seo", "archive"}, Paths: []string{"/archive/*", "/*.pdf$"}},
		{Values: []string{"Googlebot"}, Paths: []string{"/drafts/"}},
	}},
	"names": {Deny: []Statement{{Values: []string{
		"Googlebot", "bingbot", "YandexBot", "Baiduspider", "ia_archiver", "wget", "MJ12bot", "Slurp",
	}}}},
	"signals": {Signal: []Statement{{Values: []string{"search=yes"}}, {Values: []string{"ai-train=no"}}}},
}

// realFiles returns the files of the corpus, the examples of the linter, and a few own ones.
func realFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{
		"own-1": []byte("User-agent: *\nDisallow: /cgi-bin/\nAllow: /cgi-bin/open\nCrawl-delay: 4\n\nUser-agent: Googlebot\nUser-agent: bingbot\nDisallow: /*.pdf$\nAllow: /\n\nUser-agent: Slurp\nCrawl-delay: 9\n"),
		"own-2": []byte("\ufeffUser-agent: Googlebot-Image\rDisallow: /\r\rUser-agent: wget\rDisallow: /\rUser-agent: *\rDisallow:\r"),
		"own-3": []byte("Disallow: /orphan\nUser-agent: *\n\nUser-agent: Yandex\nDisallow: /a /b\nDisallow: c/\nUser-agent: GPTBot"),
	}
	const examples = "../../testdata/lint/*.txt"
	patterns := []string{examples}
	if dir := os.Getenv("ROBOTS_CORPUS"); dir != "" {
		patterns = append(patterns, filepath.Join(dir, "real-robots", "*.txt"))
	} else {
		t.Log("ROBOTS_CORPUS is not set: testing own files only")
	}
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if pattern == examples && robots.Parse(data).GoogleReading() != nil {
				continue // an error of the linter: Google's crawlers read other groups than are copied
			}
			files[filepath.Base(name)] = data
		}
	}
	return files
}

// For each real file and policy, the merged file has no new error, nothing
// changes for crawlers outside the policy, and the policy is enforced for those
// inside.
func TestMergeOfRealFiles(t *testing.T) {
	files := realFiles(t)
	compared := 0
	for what, p := range corpusPolicies {
		l, err := p.Compile(crawler.Builtin())
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range files {
			m, err := l.Merge(data, new(judge.Settings))
			if err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
				continue
			}
			c := comparison{
				T: t, name: name + ", " + what, lines: l, inside: map[string]bool{}, seen: map[groups]bool{},
				before: robots.Parse(data), after: robots.Parse(m.Text()),
			}
			c.lint(data)
			c.insiders()
			c.outsiders()
			compared += len(c.seen)
			checkMerged(t, l, m, string(data))
		}
	}
	t.Logf("%d files, %d policies, %d pairs of groups compared", len(files), len(corpusPolicies), compared)
}

// comparison compares a merged file with the site's file.
type comparison struct {
	*testing.T
	name          string
	lines         *Lines
	before, after *robots.File
	inside        map[string]bool // tokens of crawlers that the policy applies to, in lower case
	seen          map[groups]bool // that were compared
}

// example returns a path that a pattern matches.
func example(pattern string) string {
	return "/" + strings.TrimPrefix(strings.ReplaceAll(strings.TrimSuffix(pattern, "$"), "*", ""), "/")
}

// groups are the groups that apply to a crawler before and after a merge.
type groups struct {
	before, after *robots.Group
	paced         bool
}

// lint checks that the merged file has no error that the site's file does not
// have.
func (c *comparison) lint(site []byte) {
	had := lint.Lint(c.before)
	open := readSite(site, robots.RFC9309).open
	for _, f := range lint.Lint(c.after) {
		switch {
		case f.Severity != lint.Error:
		case slices.ContainsFunc(had, func(o lint.Finding) bool { return o.Code == f.Code && strings.HasPrefix(o.Text, f.Text) }): // a copy
		case f.Code == "joined-groups" && open: // the added Disallow reveals an error that the file had before
		default:
			c.Errorf("%s: a new error in line %d: %s: %s (%s)", c.name, f.Line, f.Code, f.Message, f.Text)
		}
	}
}

// insiders checks that the policy is enforced for the crawlers that it applies to. A
// purpose leaves out crawlers that the site's file has a group for.
func (c *comparison) insiders() {
	for row := range c.lines.registry.All() {
		cv := c.lines.covers[row.Index()]
		if c.lines.owner(row) != row {
			continue
		}
		says := cv.both
		if c.lines.ownGroup(c.before, row) != nil {
			says = cv.named
		}
		if !says.any() {
			continue
		}
		for _, t := range append(row.Tokens(), first(row)) {
			c.inside[strings.ToLower(t)] = true
		}
		g, _ := groupOf(c.after, row)
		if says.all && nameable(first(row)) && (g.Match("/").Allowed || g.Match("/any/thing.html").Allowed) {
			c.Errorf("%s: %s is not denied", c.name, row.Name)
		}
		for _, p := range says.paths {
			if v := g.Match(example(p.Pattern)); v.Allowed && v.Rule().Pattern == "" {
				c.Errorf("%s: %s is allowed %s", c.name, row.Name, example(p.Pattern))
			}
		}
	}
}

// outsiders checks that no other crawler gets another verdict or limit: none of the
// registry, none that the file names, and none that nobody knows.
func (c *comparison) outsiders() {
	readings := map[bool][2]*robots.File{false: {c.before, c.after}}
	if c.before.GoogleReading() != nil || c.after.GoogleReading() != nil {
		google := robots.WithDialect(robots.Google)
		readings[true] = [2]*robots.File{robots.Parse(c.before.Bytes(), google), robots.Parse(c.after.Bytes(), google)}
	}
	for row := range c.lines.registry.All() {
		if c.inside[strings.ToLower(first(row))] || row.Class == crawler.App {
			continue // no group binds an app
		}
		for google, files := range readings {
			if google && !row.ReadsGoogle {
				continue
			}
			was, star := groupOf(files[0], row)
			is, _ := groupOf(files[1], row)
			unpaced := star && row.CrawlDelay == crawler.No // no limit of * was enforced for it
			c.same(row.Name, was, is, !unpaced)
		}
	}
	for _, token := range c.before.Tokens() {
		word, _, _ := strings.Cut(token, " ")
		if !c.inside[strings.ToLower(token)] && !c.inside[strings.ToLower(word)] {
			c.same(token, c.before.Named(token), c.after.Group(token), true)
		}
	}
	c.same("*", c.before.Star(), c.after.Star(), true)
}

// same checks that two groups have the same verdicts and, if paced is true, limits.
func (c *comparison) same(who string, before, after *robots.Group, paced bool) {
	key := groups{before, after, paced}
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	was, is := groupText(before, paced), groupText(after, paced)
	if was == is {
		return
	}
	r := diff.Compare(robots.Parse([]byte(was)), robots.Parse([]byte(is)))
	for _, change := range r.Changes {
		switch change.What {
		case "verdict", "crawl-delay", "request-rate", "visit-time":
			c.Errorf("%s: %s changes for %s: %q in place of %q %q", c.name, change.What, who, change.New, change.Old, change.Paths)
		}
	}
	if !r.Complete {
		c.Errorf("%s: the groups of %s are too large to compare", c.name, who)
	}
}

// groupText returns a file with the rules and limits of a group for all crawlers.
func groupText(g *robots.Group, paced bool) string {
	b := body{}
	for _, r := range g.Rules() {
		b.add(r.String(), judge.FileLayer, r.Line)
	}
	if paced {
		b.pace(g)
	}
	text := []string{"User-agent: *"}
	for _, e := range b.entries {
		text = append(text, e.text)
	}
	return strings.Join(text, "\n")
}
