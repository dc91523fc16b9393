// Package caddymodule enforces robots.txt in Caddy. It provides the HTTP
// handler http.handlers.robots with the Caddyfile directive robots, the request
// matcher http.matchers.robots, the dashboard http.handlers.robots_dashboard,
// the app robots, the handler of events events.handlers.robots_notify, the admin API below
// /robots/, metrics, and the commands `caddy robots check` and `caddy robots status`.
// Package commands adds the other commands, and package standard imports everything.
//
// The package enforce makes the decisions; this package connects it to Caddy. A
// site needs one line:
//
//	example.com {
//		robots
//		reverse_proxy localhost:8080
//	}
package caddymodule
