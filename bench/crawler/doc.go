// Package crawler compares the identification of crawlers with other Go libraries
// that distinguish crawlers from browsers by the User-Agent: their speed, and the
// number of crawlers that they find in the same lists.
//
//	go test -bench . -benchmem ./crawler
//	ROBOTS_CORPUS=/path/to/lists go test -run Lists -v ./crawler
package crawler
