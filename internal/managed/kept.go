package managed

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Kept is a group of the site's file that stays as it is, though the policy names the purpose of
// its crawlers.
type Kept struct {
	Crawlers []string
	Line     int // of the site's file
}

// String returns a line of text for the site's operator, with at most eight crawlers.
func (k Kept) String() string {
	return fmt.Sprintf("%s: own group in robots.txt kept (line %d of robots.txt)", words.List(k.Crawlers, 8), k.Line)
}
