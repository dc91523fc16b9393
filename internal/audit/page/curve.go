package page

import (
	"math"
	"strconv"
	"strings"
)

// curve returns the path of a filled curve of steps. Each number is 1 unit wide, and
// the height of the panel stands for most.
func curve(list []int64, most int64) string {
	var b strings.Builder
	b.WriteString("M0 " + strconv.Itoa(panelHeight))
	last := -1
	for i, n := range list {
		y := panelHeight
		if most > 0 {
			y = panelHeight - int(math.Round(panelHeight*float64(max(min(n, most), 0))/float64(most)))
		}
		if n > 0 && y == panelHeight {
			y-- // a small number must be visible
		}
		if y != last {
			if last >= 0 {
				b.WriteString("H" + strconv.Itoa(i))
			}
			b.WriteString("V" + strconv.Itoa(y))
			last = y
		}
	}
	b.WriteString("H" + strconv.Itoa(len(list)) + "V" + strconv.Itoa(panelHeight) + "Z")
	return b.String()
}
