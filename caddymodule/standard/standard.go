// Package standard is the plugin with all of its commands and steps. Import it for its side effects:
//
//	xcaddy build --with github.com/caddy-robots/caddy-robots/caddymodule/standard
package standard

import (
	_ "github.com/caddy-robots/caddy-robots/caddymodule"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/commands"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/challenge"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/dashboard"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/federation"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/fleet"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/forwarded"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/grace"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/limit"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/meta"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/notify"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/policy"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/shed"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/verify"
)
