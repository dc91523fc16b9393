// Package registry reads the crawlers that an operator adds to the built-in
// registry: from a [File], again whenever it changes, or from a [URL], again every
// six hours. Both are a [Registry] to a handler. It knows nothing of handlers: it calls a function with each new
// registry.
package registry
