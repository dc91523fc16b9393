package managed

import (
	"iter"
	"maps"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Policy has the rules of the site's operator for crawlers, by purpose or by
// name. Most of them become lines of robots.txt. The order of the statements does not matter.
// The Line of each statement is its line in the configuration, or 0 if there is
// none.
type Policy struct {
	// The name of the configuration file that has the lines of the statements,
	// such as `Caddyfile`. It is only shown to operators.
	File string `json:"file,omitempty"`

	// `no-training` or `no-ai`.
	Presets []Statement `json:"presets,omitempty"`

	// Crawlers that are denied the whole site, or some of its paths. A purpose leaves out
	// search engines, and crawlers with a group of their own in the site's file. A name
	// replaces the crawler's group, whose lines stay as comments. With paths, the site's rules
	// for the crawler stay, and a longer `Allow` of theirs wins.
	Deny []Statement `json:"deny,omitempty"`

	// Crawlers that a `deny` of their purpose does not apply to. No `Allow` is published.
	Allow []Statement `json:"allow,omitempty"`

	// Content-Signal preferences (contentsignals.org), such as `ai-train=no`, in every group
	// that may crawl. Keys: `search`, `ai-input` and `ai-train`, with `yes` or `no`; `use`,
	// with `immediate`, `reference` or `full`.
	Signal []Statement `json:"signal,omitempty"`

	// Content-Usage preferences (IETF AIPREF), sent as a header. Keys: `train-ai` and
	// `search`, with `y` or `n`.
	Usage []Statement `json:"usage,omitempty"`

	// URLs of licences (Really Simple Licensing).
	License []Statement `json:"license,omitempty"`

	// Paths that are denied to all crawlers and published nowhere.
	Hidden []Statement `json:"hidden,omitempty"`
}

// Statement is a line of a policy.
type Statement struct {
	// Names of presets, purposes or crawlers, preferences such as `ai-train=no`, or URLs.
	Values []string `json:"values,omitempty"`

	// Paths, in robots.txt syntax, of at most 2048 octets each; only of `deny` and `hidden`.
	// Default: the whole site.
	Paths []string `json:"paths,omitempty"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// values returns the values of statements, with their lines.
func values(list []Statement) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, s := range list {
			for _, v := range s.Values {
				if !yield(v, s.Line) {
					return
				}
			}
		}
	}
}

// Publishes reports whether the policy has a statement that adds lines to
// robots.txt.
func (p *Policy) Publishes() bool {
	return len(p.Presets)+len(p.Deny)+len(p.Signal)+len(p.License) > 0
}

// preset holds the values of statements: purposes, and preferences.
type preset struct{ deny, signal, usage []string }

// Sources about Google-Extended and AI Overviews: "Google's common crawlers"
// and "AI features and your website" in Google's documentation. Source about
// Copilot: "Announcing new options for webmasters to control usage of their
// content in Bing Chat" in Bing's webmaster blog.
var presets = map[string]preset{
	"no-training": {
		deny:   words.Strings([]crawler.Purpose{crawler.AITraining, crawler.AIData}),
		signal: []string{"ai-train=no"},
		usage:  []string{"train-ai=n"},
	},
	"no-ai": {
		deny:   words.Strings([]crawler.Purpose{crawler.AITraining, crawler.AIData, crawler.AISearch, crawler.AIUser, crawler.AIAgent}),
		signal: []string{"ai-train=no", "ai-input=no"},
		usage:  []string{"train-ai=n"},
	},
}

// BeyondPresets has sentences for the site's operator about what no preset can
// prevent. Sources: developers.google.com/search/docs/appearance/ai-features;
// blogs.bing.com/webmaster, "Announcing new options for webmasters to control usage
// of their content in Bing Chat"; developers.google.com/crawling/docs, "Google's
// common crawlers".
var BeyondPresets = []string{
	"AI Overviews and AI Mode of Google Search use pages that Googlebot fetched; only nosnippet, data-nosnippet or " +
		"max-snippet keep a page out of them",
	"Copilot and Bing's chat use pages that bingbot fetched; noarchive keeps a page out of them",
	"Google-Extended stops not only training, but also the use of the site's pages for grounding in Gemini",
}

// PresetNames returns the names of the presets, sorted.
func PresetNames() []string { return slices.Sorted(maps.Keys(presets)) }

// expand returns the policy with each preset replaced by its statements, without those that
// the policy has. It skips unknown presets.
func (p *Policy) expand() Policy {
	all := *p
	all.Presets = nil
	for name, line := range values(p.Presets) {
		set := presets[name]
		all.Deny, all.Signal, all.Usage = with(all.Deny, set.deny, line), with(all.Signal, set.signal, line), with(all.Usage, set.usage, line)
	}
	return all
}

// with returns a list with those values of a preset that no statement about the whole site has.
func with(list []Statement, preset []string, line int) []Statement {
	list = slices.Clone(list)
	for _, v := range preset {
		if !slices.ContainsFunc(list, func(s Statement) bool { return len(s.Paths) == 0 && slices.Contains(s.Values, v) }) {
			list = append(list, Statement{Values: []string{v}, Line: line})
		}
	}
	return list
}
