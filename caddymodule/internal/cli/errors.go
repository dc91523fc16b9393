package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/caddy-robots/caddy-robots/internal/editdistance"
)

// Needs checks the number of arguments: n, or 1 and more. what names them.
func Needs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n || n > 1 && len(args) > n {
			return fmt.Errorf("%s needs %s: `%s --help` has examples", cmd.Name(), what, cmd.CommandPath())
		}
		return nil
	}
}

// NoArgs checks that there are no arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s has only flags, and no argument such as %q: `%s --help` has examples", cmd.Name(), args[0], cmd.CommandPath())
	}
	return nil
}

// withFlags adds to a check of arguments that the required flags are given.
func withFlags(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, required := f.Annotations[cobra.BashCompOneRequiredFlag]; required && !f.Changed && err == nil {
				err = fmt.Errorf("%s needs --%s%s: `%s --help` has examples", cmd.Name(), f.Name, meaning(f), cmd.CommandPath())
			}
		})
		return err
	}
}

// DidYouMean returns the end of an error about an unknown word: the words that it
// probably means, if there are any.
func DidYouMean(words ...string) string {
	if len(words) == 0 || words[0] == "" {
		return ""
	}
	return "; did you mean " + strings.Join(words, " or ") + "?"
}

// meaning returns what a flag is, for errors.
func meaning(f *pflag.Flag) string {
	usage, _, _ := strings.Cut(strings.TrimSuffix(f.Usage, " (required)"), ":")
	return " (" + usage + ")"
}

// valueForms says what the values of flags of a type look like.
var valueForms = map[string]string{"int": "a whole number", "duration": "a duration, such as 30s", "bool": "true or false"}

// FlagError returns an error about flags in words. It adds the flag that an unknown one
// probably means.
func FlagError(cmd *cobra.Command, err error) error {
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value%s", missing.GetFlag().Name, meaning(missing.GetFlag()))
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		cause := InWords(invalid.Unwrap())
		if form, ok := valueForms[invalid.GetFlag().Value.Type()]; ok {
			cause = errors.New("want " + form)
		}
		return fmt.Errorf("--%s %s: %w", invalid.GetFlag().Name, Shown(invalid.GetValue()), cause)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w%s", err, DidYouMean(editdistance.Nearest("--"+unknown.GetSpecifiedName(), slices.Values(names))))
}

// ExitStatus is the error of a command that did its work and found a problem. Any other
// error means that it could not do its work: its exit status is 1.
type ExitStatus int

// ExitFinding is the status of a command that found a problem.
const ExitFinding ExitStatus = 2

func (s ExitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// FindingIf returns ExitFinding if a command found a problem.
func FindingIf(found bool) error {
	if found {
		return ExitFinding
	}
	return nil
}

// Run converts the function of a command to that of cobra.
func Run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cmd.SilenceErrors = true
		err := f(cmd, args)
		if status, ok := errors.AsType[ExitStatus](err); ok {
			return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return int(status), nil })(cmd, args)
		}
		if err == nil {
			return nil
		}
		err = Redacted(InWords(err))
		if !errors.Is(err, ErrReported) {
			PrintError(cmd, err)
		}
		return err
	}
}

// ErrReported is the error of a command that has printed its errors.
var ErrReported = errors.New("not all files could be read")

// PrintError prints an error as all commands do.
func PrintError(cmd *cobra.Command, err error) {
	Say(cmd.ErrOrStderr(), "Error: %v", err)
}

// Say prints a line.
func Say(w io.Writer, format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// InWords returns an error about a file in words, without the name of the system call.
func InWords(err error) error {
	file, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	text, folder := fmt.Sprintf("%s can't be opened: %v", file.Path, file.Err), filepath.Dir(file.Path)
	_, noFolder := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist) && strings.Contains(file.Path, "://"):
		text = file.Path + " is no file, and no URL with http or https"
	case errors.Is(noFolder, fs.ErrNotExist):
		text = "there is no folder " + folder
	case errors.Is(err, fs.ErrNotExist):
		text = "there is no file " + file.Path
	case errors.Is(err, fs.ErrPermission):
		text = "this user may not open " + file.Path
	case errors.Is(err, syscall.EISDIR):
		text = file.Path + " is a folder, not a file"
	}
	return errors.New(strings.Replace(err.Error(), file.Error(), text, 1))
}
