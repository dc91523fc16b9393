package caddymodule

import (
	"errors"
	"fmt"
	"os"

	"github.com/caddyserver/caddy/v2"
	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// The kinds of Source.
const (
	sourceSite   = "site"
	sourceFile   = "file"
	sourceInline = "inline"
	sourceURL    = "url"
)

// Source is where the rules come from. With `file`, `inline` and `url` the site
// still serves its own /robots.txt, if it has one; `publish` serves the enforced
// rules instead.
type Source struct {
	// `site`: the site's own /robots.txt. The handler requests it through the
	// site's routes, inside the server process, for each origin (scheme, host
	// and port). `file`, `inline` and `url`: one file for all hosts of the
	// site. Default: `site`.
	Kind string `json:"kind,omitempty"`

	// The path of the robots.txt file, for `file`. Placeholders that are known
	// when the configuration is loaded, such as `{env.ROBOTS}`, are replaced.
	Path string `json:"path,omitempty"`

	// The text of the robots.txt, for `inline`.
	Text string `json:"text,omitempty"`

	// The absolute http or https URL of the robots.txt, for `url`. Placeholders
	// that are known when the configuration is loaded are replaced.
	URL string `json:"url,omitempty"`
}

// kind returns the kind of the source, or the default.
func (s *Settings) kind() string {
	if s.Source == nil || s.Source.Kind == "" {
		return sourceSite
	}
	return s.Source.Kind
}

// id returns a number that identifies the source, the same in every process. It
// does not depend on the text of an inline source, so that the counters of its
// lines outlive an edit.
func (s *Source) id() uint64 {
	if s == nil || s.Kind == "" || s.Kind == sourceSite {
		return 0
	}
	return xxhash.Sum64String(s.Kind + "\x00" + s.Path + "\x00" + s.URL)
}

// newSource returns the source that the settings name. It checks that a file
// exists, and does not read it.
func (s *Settings) newSource(ctx caddy.Context, repl *caddy.Replacer) (enforce.Source, error) {
	switch s.kind() {
	case sourceSite:
		return newSiteSource(ctx), nil
	case sourceInline:
		return enforce.Inline(s.Source.Text), nil
	case sourceFile:
		path := repl.ReplaceAll(s.Source.Path, "")
		if path == "" {
			return nil, errors.New("source file: no path")
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("source file: %w", err)
		}
		if info.IsDir() {
			return nil, fmt.Errorf("source file: %s is a folder", path)
		}
		return enforce.File{Path: path}, nil
	case sourceURL:
		source, err := enforce.NewURL(repl.ReplaceAll(s.Source.URL, ""))
		if err != nil {
			return nil, fmt.Errorf("source url: %w", err)
		}
		return source, nil
	}
	return nil, fmt.Errorf("source %q: want site, file, inline or url", s.Source.Kind)
}
