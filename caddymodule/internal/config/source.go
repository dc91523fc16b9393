package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/robots"
)

// The kinds of Source.
const (
	SourceSite   = "site"
	SourceFile   = "file"
	SourceInline = "inline"
	SourceURL    = "url"
)

// Source is where the rules come from.
type Source struct {
	// `site`, `file`, `inline` or `url`. Default: `site`.
	Kind string `json:"kind,omitempty"`

	// The path of the robots.txt, for `file`.
	Path string `json:"path,omitempty"`

	// The text of the robots.txt, for `inline`.
	Text string `json:"text,omitempty"`

	// The name of the configuration file, and its line at which the text of `inline`
	// begins. Rules of the text, and errors, are shown with these. Default: the lines count from the start of the text.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`

	// The absolute http or https URL of the robots.txt, for `url`.
	URL string `json:"url,omitempty"`
}

// SourceKind returns the kind of the source, or the default.
func (s *Settings) SourceKind() string {
	if s.Source == nil || s.Source.Kind == "" {
		return SourceSite
	}
	return s.Source.Kind
}

// NeedsFile reports whether the settings enforce nothing without a robots.txt, and are not
// about the headers of responses.
func (s *Settings) NeedsFile() bool {
	return !s.hasStep(func(i step.Info) bool { return i.Enforces }) && !s.IsAboutHeaders()
}

// IsAboutHeaders reports whether the settings have headers of responses, so that a site
// may have no robots.txt on purpose.
func (s *Settings) IsAboutHeaders() bool {
	return s.XRobotsTag != nil || s.hasStep(func(i step.Info) bool { return i.Headers })
}

// IsLocal reports whether the source is a file or in the configuration.
func (s *Settings) IsLocal() bool {
	kind := s.SourceKind()
	return kind == SourceFile || kind == SourceInline
}

// ID returns a number that identifies the source, the same in every process. It
// does not depend on the text of an inline source, so that the counters of its
// lines outlive an edit.
func (s *Source) ID() uint64 {
	if s == nil || s.Kind == "" || s.Kind == SourceSite {
		return 0
	}
	return xxhash.Sum64String(s.Kind + "\x00" + s.Path + "\x00" + s.URL)
}

// CheckFile returns an error if there is no regular file at the path of a source.
func CheckFile(path string) error {
	const option = "source file"
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return InOption(option, fmt.Errorf("there is no file %s", path))
	case err == nil && !info.Mode().IsRegular():
		return InOption(option, fmt.Errorf("%s is not a regular file", path))
	}
	return nil
}

// Location returns the path or the URL in the settings, "" for other sources.
func (s *Source) Location() string {
	if s == nil {
		return ""
	}
	return map[string]string{SourceFile: s.Path, SourceURL: s.URL}[s.Kind]
}

// NewSource returns the source that the settings name. It returns nil for the
// source site, which only a running server can read. It does not check that a
// file exists.
func (s *Settings) NewSource() (origins.Source, error) {
	switch s.SourceKind() {
	case SourceSite:
		return nil, nil
	case SourceInline:
		if err := cmp.Or(checkBreaks(s.Source.Text), robots.CheckText([]byte(s.Source.Text))); err != nil {
			return nil, fmt.Errorf("source inline: the text is not a robots.txt: %w", err)
		}
		return origins.Inline(s.Source.Text), nil
	case SourceFile:
		path, err := Resolve("source file", s.Source.Path)
		if err != nil {
			return nil, err
		}
		return origins.File{Path: path}, nil
	case SourceURL:
		address, err := Resolve("source url", s.Source.URL)
		if err != nil {
			return nil, err
		}
		source, err := origins.URL(address)
		return source, InOption("source url", err)
	}
	return nil, fmt.Errorf("source %q: want site, file, inline or url", s.Source.Kind)
}

// checkBreaks returns an error if a text has the two characters \n where a line should
// begin: a Caddyfile does not replace them.
func checkBreaks(text string) error {
	for line := range strings.SplitSeq(text, "\n") {
		for i, rest := range strings.Split(line, `\n`) {
			if i > 0 && robots.CheckText([]byte(rest)) == nil {
				return errors.New(`\n does not begin a new line in a Caddyfile: break the line in the file, after "source inline <<TXT"`)
			}
		}
	}
	return nil
}

// source parses the line source.
func (p *parser) source(_ string, args []string) error {
	if len(args) == 0 {
		return errors.New("source: want site, file PATH, inline TEXT or url URL")
	}
	s := &Source{Kind: args[0]}
	p.settings.Source = s
	values := map[string]*string{SourceFile: &s.Path, SourceInline: &s.Text, SourceURL: &s.URL}
	switch value, takes := values[s.Kind]; {
	case s.Kind == SourceSite && len(args) > 1:
		return errors.New("source site takes no value")
	case s.Kind != SourceSite && !takes:
		return fmt.Errorf("source %q: want site, file, inline or url", s.Kind)
	case takes && (len(args) != 2 || args[1] == "" && s.Kind != SourceInline):
		return fmt.Errorf("source %s takes one value, not %d", s.Kind, len(args)-1)
	case takes:
		*value = args[1]
	}
	if s.Kind == SourceFile || s.Kind == SourceURL {
		p.note("source " + s.Kind)
	}
	if s.Kind == SourceInline {
		s.File, s.Line = filepath.Base(p.File()), p.Line()
		if token := p.Token(); token.NumLineBreaks() > strings.Count(token.Text, "\n") {
			s.Line++ // a heredoc: the text begins after the marker
		}
	}
	if hasPlaceholder(s.URL + s.Path) {
		return nil
	}
	_, err := p.settings.NewSource()
	return err
}

// hasPlaceholder reports whether a value may have a placeholder, so that it
// can't be checked before it is replaced.
func hasPlaceholder(value string) bool { return strings.Contains(value, "{") }
