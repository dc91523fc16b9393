// Package commands has the commands of `caddy robots` which prepare and examine:
// init, lint, explain, diff, identify and audit. Import it for its
// side effects:
//
//	import _ "github.com/caddy-robots/caddy-robots/caddymodule/commands"
package commands

import (
	"embed"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
)

// helpTexts has the help of each command.
//
//go:embed help/*.txt
var helpTexts embed.FS

func init() {
	cli.Add(helpTexts, initCommand, lintCommand, explainCommand, diffCommand, identifyCommand, auditCommand)
}
