// Command caddy is stock Caddy with the robots plugin built in, so that a
// fresh clone of this repository runs without xcaddy.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-robots/caddy-robots/caddymodule/standard"
)

func main() {
	caddycmd.Main()
}
