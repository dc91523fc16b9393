package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
)

// Places has the lines of a Caddyfile that name files or URLs, by option, such as
// `Caddyfile:12`. What is wrong with these is found only when the configuration is loaded.
type Places map[string]string

// optionError is an error about an option, whose place Places may have.
type optionError struct {
	option string
	error
}

func (e optionError) Unwrap() error { return e.error }

// InOption returns an error that begins with the option that it is about; nil if err is nil,
// and err if it is about an option already.
func InOption(option string, err error) error {
	if err != nil && !strings.HasPrefix(err.Error(), option+" ") && !strings.HasPrefix(err.Error(), option+":") {
		err = fmt.Errorf("%s: %w", option, err)
	}
	return inOption(option, err)
}

// inOption is InOption without the name of the option in the error.
func inOption(option string, err error) error {
	if about := (optionError{}); err == nil || errors.As(err, &about) {
		return err
	}
	return optionError{option, err}
}

// Resolve replaces the placeholders in the value of an option. One without a value is an
// error that names it.
func Resolve(option, value string) (string, error) {
	resolved, err := lines.Replace(value)
	return resolved, InOption(option, err)
}

// At puts the place of the option before an error about it.
func (p Places) At(err error) error {
	var about optionError
	if errors.As(err, &about) && p[about.option] != "" {
		return fmt.Errorf("%s: %w", p[about.option], err)
	}
	return err
}

// Of returns the file and line of an option's place, "" and 0 if it is not known.
func (p Places) Of(option string) (file string, line int) {
	at := strings.LastIndex(p[option], ":")
	if at < 0 {
		return "", 0
	}
	line, _ = strconv.Atoi(p[option][at+1:])
	return p[option][:at], line
}

// with returns p with the places in o of options that p does not have.
func (p Places) with(o Places) Places {
	all := maps.Clone(o)
	maps.Copy(all, p)
	return all
}

// head makes the line that is parsed the place of errors about an option.
func (p *parser) head(option string) {
	here := *p.Dispenser
	p.heads[option] = &here
}

// note notes the place of the line that is parsed as that of an option.
func (p *parser) note(option string) {
	p.head(option)
	if p.settings.Places == nil {
		p.settings.Places = make(Places)
	}
	p.settings.Places[option] = fmt.Sprintf("%s:%d", filepath.Base(p.File()), p.Line())
}

// noted notes the place of a line whose value is a file or a URL, and parses it.
func (p *parser) noted(option string, parse lines.Line) lines.Line {
	return func(name string, values []string) error {
		p.note(option)
		return parse(name, values)
	}
}
