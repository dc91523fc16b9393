// Package caddymodule makes robots.txt binding in Caddy: the HTTP handler
// http.handlers.robots, its Caddyfile directive robots, the request matcher
// http.matchers.robots, the metrics and the commands.
//
// What is decided, and how, is in the package enforce; this one adapts it to
// Caddy. A site needs one line:
//
//	example.com {
//		robots
//		reverse_proxy localhost:8080
//	}
package caddymodule
