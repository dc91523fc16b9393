package page

// The largest number of elements of each list in the page. The page says how many it
// leaves out. The JSON report has all of them.
const (
	maxCrawlers    = 1000 // rows of the table of crawlers
	maxTimelines   = 60   // crawlers whose reads of robots.txt are drawn
	maxPaces       = 200  // crawlers whose pace is shown
	maxExamples    = 40   // crawlers with examples of refused requests
	maxSources     = 20   // robots.txt files
	maxLines       = 3000 // lines of all robots.txt files together
	maxLineAgents  = 4    // crawlers that are named at a line
	maxPeople      = 12   // browsers, systems and devices each
	maxHosts       = 200
	maxInputs      = 200
	maxDifferences = 200
	maxNotes       = 50 // warnings, and notes of each file
	maxTitleHosts  = 3
	maxNeverRead   = 12
)

// The largest lengths of texts, in runes.
const (
	maxName = 80
	maxText = 400 // lines of files, User-Agents, request targets
)

// cut returns the first n elements of list, and the number of the others.
func cut[T any](list []T, n int) (shown []T, left int) {
	if len(list) <= n {
		return list, 0
	}
	return list[:n], len(list) - n
}
