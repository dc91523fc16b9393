// Package section has the one form in which tables are shown: the page of the dashboard,
// `caddy robots status`, the admin API and the reports of `caddy robots audit` render it,
// and know nothing of what is in it.
package section

// Section is a table.
type Section struct {
	Title   string     `json:"title"`
	Columns []Column   `json:"columns"`
	Rows    [][]string `json:"rows"` // a value for each column, "" for none; times are UTC
	Note    string     `json:"note"` // below the table; "" for none
}

// Column is a column of a Section.
type Column struct {
	Name   string `json:"name"`
	Number bool   `json:"number"` // its values are numbers
}
