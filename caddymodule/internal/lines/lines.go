// Package lines parses the lines of blocks in a Caddyfile. Each error has the place of
// its line, and says what to write instead.
package lines

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/internal/editdistance"
)

// Parser parses blocks.
type Parser struct {
	*caddyfile.Dispenser
	Head caddyfile.Dispenser // at the name of the line that is parsed

	Global []string // the names of lines that only the global option robots has
}

// Line parses the values of a line of a block, and the block that the line
// opens. The place of the line is added to its errors.
type Line func(name string, values []string) error

// Table has the parsers of the lines of a block, by the names of the lines.
type Table map[string]Line

// Block parses the lines of a block. Each name may be given once, unless it is
// repeatable. Before the first line and after each line, Block calls check, if it
// is not nil, so that the error has the place of the line.
func (p *Parser) Block(lines Table, check func() error, repeatable ...string) error {
	seen := make(map[string]bool)
	for nesting := p.Nesting(); ; {
		if check != nil {
			if err := check(); err != nil {
				return Place(p.Dispenser, err)
			}
		}
		if !p.NextBlock(nesting) {
			return nil
		}
		name := p.Val()
		parse, ok := lines[name]
		switch {
		case !ok && slices.Contains(p.Global, name):
			return p.Errf("%s is for the whole server: write it in the global option robots", name)
		case !ok:
			names := slices.Sorted(maps.Keys(lines))
			return p.Errf("unknown subdirective %q%s", name,
				cmp.Or(Suggestion(name, slices.Values(names)), ": this block has "+strings.Join(names, ", ")))
		case seen[name] && !slices.Contains(repeatable, name):
			return p.Errf("%s is given twice", name)
		}
		seen[name], p.Head = true, *p.Dispenser
		if err := parse(name, p.RemainingArgs()); err != nil {
			return Place(p.Dispenser, err)
		}
	}
}

// place is what a Dispenser adds to an error.
var place = regexp.MustCompile(`, at .+:\d+( import chain:? \['.*'\])?$`)

// Place adds the place of d's token to an error, unless it has one. It returns
// nil if err is nil.
func Place(d *caddyfile.Dispenser, err error) error {
	if err == nil || place.MatchString(err.Error()) {
		return err
	}
	return d.WrapErr(err)
}

// About returns an error with the setting that it is about, nil if err is nil.
func About(setting string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %w", setting, err)
}

// Suggestion returns the end of an error that suggests the nearest known word,
// or "".
func Suggestion(word string, known iter.Seq[string]) string {
	if near := editdistance.Nearest(word, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// Choices are the values that a setting can have. An empty value stands for the
// default.
type Choices []string

// Check returns an error if a value is not among the choices.
func (c Choices) Check(name, value string) error {
	if value == "" || slices.Contains(c, value) {
		return nil
	}
	return fmt.Errorf("%s %q: want %s", name, value, strings.Join(c, " or "))
}

// Choice returns a parser of one of some values.
func Choice(field *string, allowed Choices) Line {
	return One(func(name, value string) error {
		if value == "" {
			return fmt.Errorf("%s: want %s", name, strings.Join(allowed, " or "))
		}
		*field = value
		return allowed.Check(name, value)
	})
}

// One returns a parser of a line with one value.
func One(set func(name, value string) error) Line {
	return func(name string, values []string) error {
		if len(values) != 1 {
			return fmt.Errorf("%s takes one value, not %d", name, len(values))
		}
		return set(name, values[0])
	}
}

// Duration returns a parser of a time from least.
func Duration(field *caddy.Duration, least time.Duration) Line {
	return One(func(name, value string) error {
		v, err := caddy.ParseDuration(value)
		if err != nil {
			return fmt.Errorf("%s: %q is not a duration: write it as 30s, 5m or 1h", name, value)
		}
		if v < least {
			return fmt.Errorf("%s: %s is below %s", name, v, least)
		}
		*field = caddy.Duration(v)
		return nil
	})
}

// Number returns a parser of a whole number from 1.
func Number(field *int, most int) Line {
	return One(func(name, value string) error {
		v, err := strconv.Atoi(value)
		if err != nil || v < 1 || v > most {
			return fmt.Errorf("%s: %q is not a whole number from 1 to %d", name, value, most)
		}
		*field = v
		return nil
	})
}

// NoValues returns an error if there are values. It is for a line that has only a block.
func NoValues(name string, values []string) error {
	if len(values) == 0 {
		return nil
	}
	return fmt.Errorf("%s: unexpected %q: it takes its options in a block", name, values[0])
}

// Text returns a parser of one value that is not empty.
func Text(field *string) Line {
	return One(func(name, value string) error {
		if value == "" {
			return fmt.Errorf("%s: the value is empty", name)
		}
		*field = value
		return nil
	})
}

// OnOff returns a parser of on or off; no value means on.
func OnOff(field **bool) Line {
	return func(name string, values []string) error {
		value := strings.Join(values, " ")
		if len(values) > 0 && value != "on" && value != "off" {
			return fmt.Errorf("%s %q: want on or off", name, value)
		}
		*field = new(value != "off")
		return nil
	}
}

// List returns a parser of one or more values that are not empty.
func List(field *[]string, checks ...func(string) error) Line {
	return func(name string, values []string) error {
		if len(values) == 0 {
			return fmt.Errorf("%s needs at least one value", name)
		}
		for _, v := range values {
			if v == "" {
				return fmt.Errorf("%s: a value is empty", name)
			}
			for _, check := range checks {
				if err := check(v); err != nil {
					return About(name+":", err)
				}
			}
		}
		*field = values
		return nil
	}
}

// Replace replaces the placeholders in a value. One without a value is an error that names it.
func Replace(value string) (string, error) {
	resolved, err := caddy.NewReplacer().ReplaceOrErr(value, true, true)
	if err != nil {
		err = fmt.Errorf("%w: set it where Caddy is started, or write the value", err)
	}
	return resolved, err
}
