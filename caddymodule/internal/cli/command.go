package cli

import (
	"embed"
	"fmt"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/release"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Module is the part of the Caddy module that the commands use.
type Module interface {
	// ReadRegistry returns the crawlers of a registry file in addition to the
	// built-in ones.
	ReadRegistry(path string) (*crawler.Registry, error)
	// HeaderRules returns the x_robots_tag rules of all sites of a
	// configuration file: a Caddyfile, or JSON if its name ends in .json.
	HeaderRules(path string) ([]headers.Setting, error)
	// Sites returns the robots handlers of a configuration file.
	Sites(path string) ([]Site, error)
	// Config returns a configuration file as JSON.
	Config(path string) ([]byte, error)
}

// Register registers `caddy robots` and its subcommands with Caddy. Call it
// once, before Caddy's main function.
func Register(m Module) {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "robots",
		Short: "Works with robots.txt files and crawlers",
		CobraFunc: func(cmd *cobra.Command) {
			addHelp(cmd)
			cmd.Version = release.Version()
			cmd.SetVersionTemplate("caddy-robots {{.Version}}\n")
			cmd.SetHelpTemplate(cmd.HelpTemplate() +
				"\nDocumentation: https://github.com/caddy-robots/caddy-robots/tree/main/docs\n") // of the subcommands too
			cmd.AddCommand(subcommands(m)...)
			cmd.SuggestionsMinimumDistance = 2
			cmd.SetFlagErrorFunc(flagError) // of the subcommands too
			cmd.RunE = run(runParent)
		},
	})
}

// subcommands returns the commands below `caddy robots`.
func subcommands(m Module) []*cobra.Command {
	list := []*cobra.Command{
		initCommand(m),
		checkCommand(m),
		lintCommand(m),
		newCommand("explain [code]...", "Explains the checks of the linter", cobra.ArbitraryArgs, explain),
		diffCommand(),
		identifyCommand(m),
		verifyCommand(m),
		policyCommand(m),
		statusCommand(),
		auditCommand(m),
		notifyCommand(m),
	}
	for _, cmd := range list {
		addHelp(cmd)
	}
	return list
}

// helpTexts has the help of each command, and its examples after a line "Examples:".
//
//go:embed help/*.txt
var helpTexts embed.FS

// addHelp adds the help and examples of a command.
func addHelp(cmd *cobra.Command) {
	text, err := helpTexts.ReadFile("help/" + cmd.Name() + ".txt")
	must(err)
	help, examples, _ := strings.Cut(string(text), "\n\nExamples:\n")
	cmd.Long, cmd.Example = "\n"+help, strings.TrimSuffix(examples, "\n")
}

// newCommand returns a command that runs f.
func newCommand(use, short string, args cobra.PositionalArgs, f func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: withFlags(args), RunE: run(f)}
}

// runParent prints the help of a command that only has subcommands. It returns
// an error for an unknown subcommand.
func runParent(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), didYouMean(cmd.SuggestionsFor(args[0])...))
}

// addDialectFlag adds --dialect.
func addDialectFlag(cmd *cobra.Command, dialect *string) {
	cmd.Flags().StringVar(dialect, "dialect", "", "how the file is read: rfc9309 (default), 1994 or 1996")
}

// addAgentFlag adds --agent, which is required. The crawlers of the registry complete it.
func addAgentFlag(cmd *cobra.Command, agent *string, usage string) {
	cmd.Flags().StringVarP(agent, "agent", "a", "", usage)
	must(cmd.MarkFlagRequired("agent"))
	must(cmd.RegisterFlagCompletionFunc("agent", completeCrawlers))
}

// completeCrawlers completes the User-Agent tokens of the crawlers in the registry.
func completeCrawlers(_ *cobra.Command, _ []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	for row := range crawler.Builtin().All() {
		if len(row.UserAgents) > 0 && strings.HasPrefix(strings.ToLower(row.UserAgents[0]), strings.ToLower(begin)) {
			list = append(list, cobra.CompletionWithDesc(row.UserAgents[0], row.Operator))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// must panics if a flag that the code names does not exist.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// dialectFlag is robots.ParseDialect with a default.
func dialectFlag(s string) (robots.Dialect, error) {
	if s == "" {
		return robots.RFC9309, nil
	}
	return robots.ParseDialect(s)
}
