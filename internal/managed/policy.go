package managed

import (
	"maps"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
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
	Presets []Preset `json:"presets,omitempty"`

	// Crawlers that are denied the whole site, or some of its paths. A purpose leaves out
	// search engines, and crawlers with a group of their own in the site's file. A name
	// replaces the crawler's group, whose lines stay as comments. With paths, the site's rules
	// for the crawler stay, and a longer `Allow` of theirs wins.
	Deny []Deny `json:"deny,omitempty"`

	// Crawlers that a `deny` of their purpose does not apply to. No `Allow` is published.
	Allow []Allow `json:"allow,omitempty"`

	// Content-Signal preferences (contentsignals.org), such as `ai-train=no`, in every group
	// that may crawl. Keys: `search`, `ai-input` and `ai-train`, with `yes` or `no`; `use`,
	// with `immediate`, `reference` or `full`.
	Signal []Preference `json:"signal,omitempty"`

	// Content-Usage preferences (IETF AIPREF), sent as a header. Keys: `train-ai` and
	// `search`, with `y` or `n`.
	Usage []Preference `json:"usage,omitempty"`

	// URLs of licences (Really Simple Licensing).
	License []License `json:"license,omitempty"`

	// Paths that are denied to all crawlers and published nowhere.
	Hidden []Hidden `json:"hidden,omitempty"`
}

// Preset is a predefined set of statements. `no-training` denies the purposes
// ai-training and ai-data, and adds the Content-Signal preference ai-train=no and
// the Content-Usage preference train-ai=n, as a header. `no-ai` also denies ai-search, ai-user
// and ai-agent, and also adds ai-input=no. An Allow makes exceptions to a preset
// too.
type Preset struct {
	// `no-training` or `no-ai`.
	Name string `json:"name"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// Deny denies crawlers the whole site, or some of its paths.
type Deny struct {
	// Purposes and names of crawlers in the registry. If a crawler has its own
	// group in the site's robots.txt, a statement with its purpose changes
	// nothing for it. A statement with its name replaces that group: with
	// `paths`, the new group has these paths and also the rules of the old
	// group.
	Crawlers []string `json:"crawlers"`

	// The paths, in robots.txt syntax, of at most 2048 octets each. Default:
	// the whole site.
	Paths []string `json:"paths,omitempty"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// Allow makes exceptions to a `deny` of a purpose, also to those of a preset. It
// publishes nothing: the rules of the site's own file apply to these crawlers. It
// is an error if a `deny` also names such a crawler, or if none denies its
// purpose.
type Allow struct {
	// Names of crawlers in the registry.
	Crawlers []string `json:"crawlers"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// Preference is a key and its value, such as `ai-train=no`.
type Preference struct {
	// The key, such as `ai-train`. Unknown keys are allowed, unless they look
	// like a misspelt known one.
	Key string `json:"key"`

	// Its value, such as `no`.
	Value string `json:"value"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// License is the address of a licence for the site's content.
type License struct {
	// An absolute http or https URL.
	URL string `json:"url"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// Hidden is a path that is denied to all crawlers and published nowhere.
type Hidden struct {
	// The path, in robots.txt syntax.
	Path string `json:"path"`

	// The line of the configuration that has this statement.
	Line int `json:"line,omitempty"`
}

// Publishes reports whether the policy has a statement that adds lines to
// robots.txt.
func (p *Policy) Publishes() bool {
	return len(p.Presets)+len(p.Deny)+len(p.Signal)+len(p.License) > 0
}

// preset holds the statements of a Preset.
type preset struct {
	deny   []crawler.Purpose
	signal []Preference
	usage  []Preference
}

// Sources about Google-Extended and AI Overviews: "Google's common crawlers"
// and "AI features and your website" in Google's documentation. Source about
// Copilot: "Announcing new options for webmasters to control usage of their
// content in Bing Chat" in Bing's webmaster blog.
var presets = map[string]preset{
	"no-training": {
		deny:   []crawler.Purpose{crawler.AITraining, crawler.AIData},
		signal: []Preference{{Key: "ai-train", Value: "no"}},
		usage:  []Preference{{Key: "train-ai", Value: "n"}},
	},
	"no-ai": {
		deny:   []crawler.Purpose{crawler.AITraining, crawler.AIData, crawler.AISearch, crawler.AIUser, crawler.AIAgent},
		signal: []Preference{{Key: "ai-train", Value: "no"}, {Key: "ai-input", Value: "no"}},
		usage:  []Preference{{Key: "train-ai", Value: "n"}},
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

// expand returns the policy with each preset replaced by its statements. It skips unknown
// presets.
func (p *Policy) expand() Policy {
	all := *p
	all.Presets = nil
	all.Deny = slices.Clone(p.Deny)
	for _, named := range p.Presets {
		set := presets[named.Name]
		for _, purpose := range set.deny {
			whole := func(d Deny) bool { return len(d.Paths) == 0 && slices.Contains(d.Crawlers, string(purpose)) }
			if !slices.ContainsFunc(all.Deny, whole) {
				all.Deny = append(all.Deny, Deny{Crawlers: []string{string(purpose)}, Line: named.Line})
			}
		}
		all.Signal, all.Usage = withPreferences(all.Signal, set.signal, named.Line), withPreferences(all.Usage, set.usage, named.Line)
	}
	return all
}

// withPreferences returns a list with those of a preset that it does not have.
func withPreferences(list, preset []Preference, line int) []Preference {
	list = slices.Clone(list)
	for _, s := range preset {
		if !slices.ContainsFunc(list, func(o Preference) bool { return o.Key == s.Key && o.Value == s.Value }) {
			s.Line = line
			list = append(list, s)
		}
	}
	return list
}
