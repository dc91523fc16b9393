package page

import "github.com/caddy-robots/caddy-robots/internal/audit"

// peopleTable is the table of browsers, systems or devices.
type peopleTable struct {
	Name string
	Rows []peopleRow
	Left int
	Rest int64 // requests of the rows that are left out
}

// peopleRow is a row of a peopleTable.
type peopleRow struct {
	audit.Count
	Bars  []bar
	Share string
}

// peopleTables returns the tables of browsers, systems and devices.
func peopleTables(r *audit.Report) []peopleTable {
	var tables []peopleTable
	for _, list := range []struct {
		name string
		all  []audit.Count
	}{{"Browsers", r.Browsers}, {"Systems", r.Systems}, {"Devices", r.Devices}} {
		if len(list.all) == 0 {
			continue
		}
		t := peopleTable{Name: list.name}
		shown, left := cut(list.all, maxPeople)
		t.Left = left
		for _, c := range list.all[len(shown):] {
			t.Rest += c.Requests
		}
		var most int64
		for _, c := range shown {
			most = max(most, c.Requests)
		}
		for _, c := range shown {
			t.Rows = append(t.Rows, peopleRow{c, bars(most, part{"people", c.Requests}), share(c.Requests, r.People)})
		}
		tables = append(tables, t)
	}
	return tables
}
