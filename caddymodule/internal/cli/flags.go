package cli

import (
	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// AddDialectFlag adds --dialect.
func AddDialectFlag(cmd *cobra.Command, dialect *string) {
	cmd.Flags().StringVar(dialect, "dialect", "", "how the file is read: rfc9309 (default), 1994 or 1996")
}

// AddAgentFlag adds --agent, which is required.
func AddAgentFlag(cmd *cobra.Command, agent *string, usage string) {
	cmd.Flags().StringVarP(agent, "agent", "a", "", usage)
	Require(cmd, "agent")
}

// Require marks a flag of a command as required.
func Require(cmd *cobra.Command, flag string) {
	if err := cmd.MarkFlagRequired(flag); err != nil {
		panic(err) // the command has no such flag
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
	cmd.Flags().Func("registry", usage, func(path string) (err error) {
		*registry, err = read(path)
		return err
	})
}
