package headers

import (
	"iter"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/editdistance"
)

// nearest returns the candidate that a misspelt word probably means: the one
// with the smallest edit distance. It returns "" if no candidate is near. The
// comparison ignores case, hyphens, underscores and blanks.
func nearest(found string, candidates iter.Seq[string]) string {
	const longest = 40 // no known word is longer, and the time is quadratic
	if found == "" || len(found) > longest {
		return ""
	}
	fold := strings.NewReplacer("-", "", "_", "", " ", "")
	word := fold.Replace(strings.ToLower(found))
	folded := map[string]string{}
	return folded[editdistance.Nearest(word, func(yield func(string) bool) {
		for c := range candidates {
			f := fold.Replace(c)
			folded[f] = c
			if !yield(f) {
				return
			}
		}
	}, max(1, min(3, len(word)/3)))]
}
