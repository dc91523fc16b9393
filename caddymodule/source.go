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

// Source tells where the rules come from.
type Source struct {
	// `site`: the site's own /robots.txt, requested in process, for each
	// origin; `file`; `inline`; or `url`. Default: `site`.
	Kind string `json:"kind,omitempty"`

	// The file's path, for `file`. Placeholders that are known when the
	// configuration is loaded, such as `{env.ROBOTS}`, are replaced.
	Path string `json:"path,omitempty"`

	// The text, for `inline`.
	Text string `json:"text,omitempty"`

	// The absolute URL, for `url`. Placeholders as in the path.
	URL string `json:"url,omitempty"`
}

// kind is the source's kind, with the default.
func (s *Settings) kind() string {
	if s.Source == nil || s.Source.Kind == "" {
		return sourceSite
	}
	return s.Source.Kind
}

// id returns a number that tells sources apart, the same in every process. The
// text of an inline one does not count, so that what is counted of its lines
// outlives an edit.
func (s *Source) id() uint64 {
	if s == nil || s.Kind == "" || s.Kind == sourceSite {
		return 0
	}
	return xxhash.Sum64String(s.Kind + "\x00" + s.Path + "\x00" + s.URL)
}

// newSource makes the source that the settings name.
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
