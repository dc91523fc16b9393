// Command robots is `caddy robots` without Caddy's server, for sites whose logs another
// server writes. It does not know the directives of a Caddyfile, apart from the plugin's.
package main

import (
	"os"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddy-robots/caddy-robots/caddymodule/standard"
)

func main() {
	os.Args = append([]string{os.Args[0], "robots"}, os.Args[1:]...)
	caddycmd.Main()
}
