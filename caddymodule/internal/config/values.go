package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// choices are the values that a setting can have. An empty value stands for the
// default.
type choices []string

// check returns an error if a value is not among the choices.
func (c choices) check(name, value string) error {
	if value == "" || slices.Contains(c, value) {
		return nil
	}
	return fmt.Errorf("%s %q: want %s", name, value, strings.Join(c, " or "))
}

func choice(field *string, allowed choices) line {
	return one(func(name, value string) error {
		if value == "" {
			return fmt.Errorf("%s: want %s", name, strings.Join(allowed, " or "))
		}
		*field = value
		return allowed.check(name, value)
	})
}

// one returns a parser of a line with one value.
func one(set func(name, value string) error) line {
	return func(name string, values []string) error {
		if len(values) != 1 {
			return fmt.Errorf("%s takes one value, not %d", name, len(values))
		}
		return set(name, values[0])
	}
}

func duration(field *caddy.Duration, least time.Duration) line {
	return one(func(name, value string) error {
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

func number(field *int, least, most int) line {
	return one(func(name, value string) error {
		v, err := strconv.Atoi(value)
		if err != nil || v < least || v > most {
			return fmt.Errorf("%s: %q is not a whole number from %d to %d", name, value, least, most)
		}
		*field = v
		return nil
	})
}

// text returns a parser of one value that is not empty. check may be nil.
func text(field *string, check func(string) error) line {
	return one(func(name, value string) error {
		if value == "" {
			return fmt.Errorf("%s: the value is empty", name)
		}
		*field = value
		if check == nil {
			return nil
		}
		return check(value)
	})
}

// onOff returns a parser of on or off; no value means on.
func onOff(field **bool) line {
	return func(name string, values []string) error {
		value := strings.Join(values, " ")
		if len(values) > 0 && value != "on" && value != "off" {
			return fmt.Errorf("%s %q: want on or off", name, value)
		}
		*field = new(value != "off")
		return nil
	}
}

// words returns a parser of one or more values that are not empty. check may be
// nil.
func words(field *[]string, check func(string) error) line {
	return func(name string, values []string) error {
		if len(values) == 0 {
			return fmt.Errorf("%s needs at least one value", name)
		}
		for _, v := range values {
			if v == "" {
				return fmt.Errorf("%s: a value is empty", name)
			}
			if check == nil {
				continue
			}
			if err := check(v); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		*field = values
		return nil
	}
}
