// Package crawler holds benchmarks of the identification of crawlers beside other Go libraries that tell crawlers from browsers by the
// User-Agent, and measures them on the same lists.
//
//	go test -bench . -benchmem ./crawler
//	ROBOTS_CORPUS=/path/to/lists go test -run Lists -v ./crawler
package crawler
