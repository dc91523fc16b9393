package config

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Paths lists the ways in which the back end treats different spellings of a
// path as the same path. The handler compares each of these spellings with
// the rules, so that a crawler can't get around a rule with another spelling.
type Paths struct {
	// It ignores upper and lower case, in queries too. On Windows, this is always on.
	IgnoreCase bool `json:"ignore_case,omitempty"`

	// It removes `;parameters` from path segments, as servlet containers do.
	StripParams bool `json:"strip_params,omitempty"`

	// It decodes percent escapes twice.
	DecodeTwice bool `json:"decode_twice,omitempty"`
}

// Views converts the paths to the engine's options. A nil p has all of them off.
func (p *Paths) Views() robots.ViewOptions {
	o := robots.ViewOptions{Windows: runtime.GOOS == "windows"}
	if p != nil {
		o.FoldCase, o.StripParams, o.DecodeTwice = p.IgnoreCase, p.StripParams, p.DecodeTwice
	}
	return o
}

// paths parses the line paths.
func (p *parser) paths(_ string, args []string) error {
	if len(args) == 0 {
		return errors.New("paths: want ignore_case, strip_params or decode_twice")
	}
	paths := new(Paths)
	fields := map[string]*bool{"ignore_case": &paths.IgnoreCase, "strip_params": &paths.StripParams, "decode_twice": &paths.DecodeTwice}
	for _, a := range args {
		field, ok := fields[a]
		if !ok {
			return fmt.Errorf("paths %q: want ignore_case, strip_params or decode_twice", a)
		}
		*field = true
	}
	p.settings.Paths = paths
	return nil
}
