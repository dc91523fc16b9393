package commands_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// A typo in a command or a flag has a suggestion. Without runParent, cobra would print the help of `caddy robots` for an unknown
// command, and exit with 0.
func TestUnknownCommands(t *testing.T) {
	for _, tt := range []struct {
		args, want string // want: in the error; empty: none
	}{
		{"robots lnt clean.txt", `unknown command "lnt" for "caddy robots"; did you mean init or lint?`},
		{"robots frobnicate", `unknown command "frobnicate" for "caddy robots"`},
		{"robots", ""},
		{"robots status --strickt", "unknown flag: --strickt; did you mean --strict?"},
		{"robots audit --robot x y", "unknown flag: --robot; did you mean --robots?"},
		{"robots check --hepl", "unknown flag: --hepl; did you mean --help?"},
		{"robots --hepl", "unknown flag: --hepl; did you mean --help?"},
		{"robots status --frobnicate", "unknown flag: --frobnicate\n"},
		{"robots status -x", "unknown shorthand flag: 'x' in -x\n"},
	} {
		root := &cobra.Command{Use: "caddy", SilenceUsage: true}
		root.AddCommand(commandline.Command())
		var out, errs bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&errs)
		root.SetArgs(strings.Fields(tt.args))
		err := root.Execute()
		if (err == nil) != (tt.want == "") || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("caddy %s: %v, %q", tt.args, err, errs.String())
		}
		if tt.want == "" && !strings.Contains(out.String(), "lint") {
			t.Errorf("caddy %s prints no help: %q", tt.args, out.String())
		}
		if tt.want != "" && out.Len() > 0 {
			t.Errorf("caddy %s prints %q", tt.args, out.String())
		}
	}
}

// Completion for shells offers files and flags.
func TestCommandsComplete(t *testing.T) {
	for _, tt := range []struct {
		args string // the last one is what was typed so far; _ is nothing
		want []string
	}{
		{"lint --", []string{"--json\t", "--select\t", "--dialect\t"}},
		{"lint _", []string{":0"}}, // files
		{"diff old.txt _", []string{":0"}},
		{"check --robots _", []string{":0"}},
	} {
		t.Run(tt.args, func(t *testing.T) {
			args := strings.Fields("__complete " + tt.args)
			if args[len(args)-1] == "_" {
				args[len(args)-1] = ""
			}
			_, stdout, stderr := commandline.Run("", args...)
			for _, w := range tt.want {
				if !strings.Contains("\n"+stdout, "\n"+w) {
					t.Errorf("no %q in\n%s%s", w, stdout, stderr)
				}
			}
		})
	}
}

// The help of each command explains the exit status and has an example.
func TestCommandsHelp(t *testing.T) {
	for _, name := range []string{"check", "lint", "diff", "explain", "audit", "status", "verify", "policy"} {
		cmd, _, err := commandline.Command().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(cmd.Long, "exit status") {
			t.Errorf("the help of %s does not explain the exit status", cmd.Name())
		}
		if !strings.Contains(cmd.Example, "caddy robots "+cmd.Name()) {
			t.Errorf("%s has no example", cmd.Name())
		}
	}
}
