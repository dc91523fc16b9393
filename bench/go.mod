module github.com/caddy-robots/caddy-robots/bench

go 1.26.0

require (
	github.com/caddy-robots/caddy-robots v0.0.0
	github.com/temoto/robotstxt v1.1.2
)

replace github.com/caddy-robots/caddy-robots => ../
