package advice

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// First returns what to show of a site to which no crawler has come: what its robots.txt
// refuses, and a request to try. decide returns the action for a User-Agent and a URL; "" if it
// is not known.
func First(origin judge.Origin, file *robots.File, registry *crawler.Registry, decide func(name, url string) string) statusapi.EmptySite {
	site := statusapi.EmptySite{Site: origin.Host, Refuses: refused(file)}
	name, path := attempt(file, registry)
	url := origin.String() + path
	switch action := decide(name, url); {
	case action == "":
	case action == judge.Pass.String():
		site.Try = try(name+" is let through", name, url)
	case strings.HasPrefix(action, "would_"):
		site.Try = try(name+" would be refused", name, url)
	default:
		site.Try = try(name+" is refused", name, url)
	}
	return site
}

// refused says in words whom a robots.txt refuses which paths.
func refused(file *robots.File) string {
	const shown = 3
	var groups []string
	for _, g := range file.Groups() {
		if paths := disallowed(g); len(paths) > 0 {
			groups = append(groups, words.List(g.Tokens(), shown)+" "+words.List(paths, shown))
		}
	}
	if len(groups) == 0 {
		return "refuses nobody anything"
	}
	return "refuses " + strings.ReplaceAll(strings.Join(groups[:min(len(groups), shown)], "; "), "* /", "all crawlers /")
}

func disallowed(g *robots.Group) (paths []string) {
	for _, r := range g.Rules() {
		if !r.Allow && r.Pattern != "" {
			paths = append(paths, r.Pattern)
		}
	}
	return paths
}

// sample is a crawler that the group for * applies to.
const sample = "GPTBot"

// attempt returns a crawler and the first path that a robots.txt disallows to it, or one that
// it may fetch if the file disallows nothing.
func attempt(file *robots.File, registry *crawler.Registry) (name, path string) {
	for _, g := range file.Groups() {
		paths := disallowed(g)
		if len(paths) == 0 {
			continue
		}
		name = g.Token()
		if row := registry.Lookup(name); row != nil {
			name = row.Name
		} else if name == "*" {
			name = sample
		}
		return name, strings.NewReplacer("*", "x", "$", "").Replace(paths[0])
	}
	return sample, "/"
}

// try returns an action that sends a crawler's request to a URL.
func try(what, name, url string) statusapi.Action {
	options := "-i "
	if strings.HasPrefix(url, "https://localhost") { // Caddy signed its certificate itself
		options += "-k "
	}
	if strings.ContainsAny(url, "[]{}") { // which curl gives a meaning
		options += "-g "
	}
	return statusapi.Action{What: what, Text: "curl " + options + "-A " + Quote(name) + " " + Quote(url), Where: statusapi.Command}
}
