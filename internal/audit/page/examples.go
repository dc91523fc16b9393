package page

import "github.com/caddy-robots/caddy-robots/internal/audit"

// exampleGroup has examples of the requests of one crawler.
type exampleGroup struct {
	Label   string
	Refused int64 // number of its requests that would have been refused
	Rows    []example
}

// example is a request with the rule that decided.
type example struct {
	*audit.Example
	Rule place
}

// exampleGroups returns the crawlers with requests that would have been refused.
func exampleGroups(r *audit.Report, places places) (groups []exampleGroup, left int) {
	for i := range r.Crawlers {
		c := &r.Crawlers[i]
		if len(c.Refused) == 0 {
			continue
		}
		groups = append(groups, exampleGroup{label(c), c.Denied + c.Throttled, examples(c.Refused, places)})
	}
	return cut(groups, maxExamples)
}

// examples returns the rows for a list of requests.
func examples(list []audit.Example, places places) []example {
	var rows []example
	for i := range list {
		rows = append(rows, example{&list[i], places.ofVerdict(&list[i].Verdict)})
	}
	return rows
}

// comparison is the report's comparison of two sets of files.
type comparison struct {
	*audit.Against
	Rows []difference
	Left int
}

// difference is a row of the comparison.
type difference struct {
	*audit.Difference
	Was, Now place
	Examples []example
}

// newComparison returns nil if nothing was compared.
func newComparison(r *audit.Report, places places) *comparison {
	if r.Against == nil {
		return nil
	}
	c := &comparison{Against: r.Against}
	list, left := cut(r.Against.Differences, maxDifferences)
	c.Left = left
	for i := range list {
		d := &list[i]
		was := place{Text: d.Was.Text} // the page does not show the old files
		if d.Was.Line > 0 {
			was.Where = where(d.Was.Layer, d.Was.Line)
		}
		c.Rows = append(c.Rows, difference{d, was, places.ofVerdict(&d.Now), examples(d.Examples, places)})
	}
	return c
}
