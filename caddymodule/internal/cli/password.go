package cli

import (
	"errors"
	"regexp"
)

// password matches that of a URL, which may be malformed, and what is before it. A number before a
// slash is a port.
var password = regexp.MustCompile(`(://[^/\s:@"]*:)(\d*[^\d/\s@"][^\s"]*|\d+)@`)

// Shown returns the name of an input, or a text that has it, without passwords.
func Shown(text string) string { return password.ReplaceAllString(text, "${1}xxxxx@") }

// Redacted returns an error whose text has no password.
func Redacted(err error) error {
	if text := Shown(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}
