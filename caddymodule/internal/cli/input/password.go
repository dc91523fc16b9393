package input

import (
	"errors"
	"net/url"
	"strings"
)

// hidden replaces a password, as in net/url.
const hidden = "xxxxx"

// Shown returns the name of an input for printing, without a password. If a URL
// can't be parsed, it leaves out everything between scheme and host.
func Shown(name string) string {
	scheme, rest, found := strings.Cut(name, "://")
	if !found {
		return name
	}
	if u, err := url.Parse(name); err == nil {
		if u.User == nil {
			return name
		}
		return u.Redacted()
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		return scheme + "://" + hidden + rest[i:]
	}
	return name
}

// Redacted returns an error whose text has no password of the inputs in it.
func Redacted(err error, inputs ...string) error {
	text := err.Error()
	for _, name := range inputs {
		s := Shown(name)
		if s == name {
			continue
		}
		text = strings.ReplaceAll(text, name, s)
		if u, err := url.Parse(name); err == nil {
			if password, ok := u.User.Password(); ok && password != "" {
				text = strings.ReplaceAll(text, ":"+password+"@", ":"+hidden+"@")
			}
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}
