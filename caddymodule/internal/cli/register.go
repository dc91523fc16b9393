package cli

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/release"
)

// Register registers `caddy robots` with Caddy: check, status, and what Add added. Call it
// once, before Caddy's main function.
func Register(m Module) {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "robots",
		Short: "Works with robots.txt files and crawlers",
		CobraFunc: func(cmd *cobra.Command) {
			addHelp(cmd, helpTexts)
			cmd.Version = release.Version()
			cmd.SetVersionTemplate("caddy-robots {{.Version}}\n")
			cmd.SetHelpTemplate(cmd.HelpTemplate() +
				"\nDocumentation: https://github.com/caddy-robots/caddy-robots/tree/main/docs\n") // of the subcommands too
			cmd.AddCommand(subcommands(m)...)
			cmd.SuggestionsMinimumDistance = 2
			cmd.SetFlagErrorFunc(FlagError) // of the subcommands too
			cmd.RunE = Run(runParent)
		},
	})
}

// added has what Add got.
var added []group

// group has commands and their help texts.
type group struct {
	help     embed.FS
	commands []func(Module) *cobra.Command
}

// Add adds commands below `caddy robots`. Call it before Caddy's main function. help has
// the help of each command NAME in the file help/NAME.txt, and its examples after a line
// "Examples:".
func Add(help embed.FS, commands ...func(Module) *cobra.Command) {
	added = append(added, group{help, commands})
}

// subcommands returns the commands below `caddy robots`.
func subcommands(m Module) (list []*cobra.Command) {
	own := group{helpTexts, []func(Module) *cobra.Command{checkCommand, statusCommand}}
	for _, g := range slices.Concat([]group{own}, added) {
		for _, newCommand := range g.commands {
			cmd := newCommand(m)
			addHelp(cmd, g.help)
			list = append(list, cmd)
		}
	}
	return list
}

// helpTexts has the help of `caddy robots`, and of its own commands.
//
//go:embed help/*.txt
var helpTexts embed.FS

// addHelp adds the help and examples of a command.
func addHelp(cmd *cobra.Command, texts embed.FS) {
	text, err := texts.ReadFile("help/" + cmd.Name() + ".txt")
	if err != nil {
		panic(err) // a command without a help text
	}
	help, examples, _ := strings.Cut(string(text), "\n\nExamples:\n")
	cmd.Long, cmd.Example = "\n"+help, strings.TrimSuffix(examples, "\n")
}

// runParent prints the help of a command that only has subcommands. It returns
// an error for an unknown subcommand.
func runParent(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), DidYouMean(cmd.SuggestionsFor(args[0])...))
}
