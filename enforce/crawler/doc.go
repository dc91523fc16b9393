// Package crawler tells which crawler sent a request by its User-Agent.
package crawler
