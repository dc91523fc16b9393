package managed

import (
	"maps"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

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

// beyondPresets has sentences for the site's operator about what no preset can
// prevent.
var beyondPresets = []string{
	"AI Overviews and AI Mode of Google Search use pages that Googlebot fetched; only nosnippet, data-nosnippet or max-snippet keep a page out of them",
	"Copilot and Bing's chat use pages that bingbot fetched; noarchive keeps a page out of them",
	"Google-Extended stops not only training, but also the use of the site's pages for grounding in Gemini",
}

// PresetNames returns the names of the presets, sorted.
func PresetNames() []string { return slices.Sorted(maps.Keys(presets)) }

// expand returns the policy with each preset replaced by its statements, and
// what the presets can't prevent. It skips unknown presets.
func (p *Policy) expand() (all Policy, beyond []string) {
	all = *p
	all.Presets = nil
	all.Deny = slices.Clone(p.Deny)
	for _, named := range p.Presets {
		set, known := presets[named.Name]
		if known {
			beyond = beyondPresets
		}
		for _, purpose := range set.deny {
			if !deniesSite(all.Deny, string(purpose)) {
				all.Deny = append(all.Deny, Deny{Crawlers: []string{string(purpose)}, Line: named.Line})
			}
		}
		all.Signal, all.Usage = withPreferences(all.Signal, set.signal, named.Line), withPreferences(all.Usage, set.usage, named.Line)
	}
	return all, beyond
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

// deniesSite reports whether a statement denies the whole site to a purpose.
func deniesSite(list []Deny, purpose string) bool {
	return slices.ContainsFunc(list, func(d Deny) bool { return len(d.Paths) == 0 && slices.Contains(d.Crawlers, purpose) })
}
