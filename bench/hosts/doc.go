// Package hosts proves, with 500 and 10,000 hosts on one catch-all site and three servers
// with one Redis, that each host has its own numbers: those of the access logs, on its own
// page, and that a tenant's page has no name of another. It measures what that takes beside
// the same servers without the directive. It needs redis-server.
package hosts
