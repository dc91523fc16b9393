package command

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// AddDialectFlag adds --dialect.
func AddDialectFlag(cmd *cobra.Command, dialect *string) {
	cmd.Flags().StringVar(dialect, "dialect", "", "how the file is read: rfc9309 (default), 1994 or 1996")
}

// AddAgentFlag adds --agent, which is required. The crawlers of the registry complete it.
func AddAgentFlag(cmd *cobra.Command, agent *string, usage string) {
	cmd.Flags().StringVarP(agent, "agent", "a", "", usage)
	Require(cmd, "agent")
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

// Require marks a flag of a command as required.
func Require(cmd *cobra.Command, flag string) { must(cmd.MarkFlagRequired(flag)) }

// must panics if a flag that the code names does not exist.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// ParseDialect is robots.ParseDialect with a default.
func ParseDialect(s string) (robots.Dialect, error) {
	if s == "" {
		return robots.RFC9309, nil
	}
	return robots.ParseDialect(s)
}

// AddRuleFlags adds the flags that select the clients to which robots.txt
// applies, like the subdirectives of the same names.
func AddRuleFlags(cmd *cobra.Command, read ReadRegistry, rules *judge.Settings) {
	f := cmd.Flags()
	f.BoolVar(&rules.HTTPClients, "http-clients", false, "apply the group for * to HTTP libraries, like http_clients on")
	f.BoolVar(&rules.Programs, "programs", false, "apply the group for * to programs that send only their name, like programs on")
	f.BoolVar(&rules.IgnoreUserTriggered, "no-user-triggered", false,
		"do not apply the group for * to user-triggered fetchers, like user_triggered off")
	f.BoolVar(&rules.Strict, "strict", false, "apply every rule to every crawler, like strict on")
	AddRegistryFlag(cmd, read, &rules.Registry, "file or URL of crawlers to add to the built-in registry, like registry")
}

// ReadRegistry reads a registry: the crawlers of a file or URL in addition to the built-in
// ones.
type ReadRegistry func(path string) (*crawler.Registry, error)

// AddRegistryFlag adds --registry.
func AddRegistryFlag(cmd *cobra.Command, read ReadRegistry, registry **crawler.Registry, usage string) {
	cmd.Flags().Var(&registryFlag{read: read, registry: registry}, "registry", usage)
}

// registryFlag is the value of a flag that names a registry.
type registryFlag struct {
	path     string
	read     ReadRegistry
	registry **crawler.Registry
}

func (f *registryFlag) String() string { return f.path }
func (f *registryFlag) Type() string   { return "file|url" }

// Set reads the registry.
func (f *registryFlag) Set(path string) (err error) {
	f.path = path
	*f.registry, err = f.read(path)
	return err
}

// Interface guard
var _ pflag.Value = (*registryFlag)(nil)
