// Package cost adds up what requests cost, by path pattern and by client. A pattern
// is a path in which the segments that vary are folded to *, with the names of the
// query's parameters: /*/*/blame/*, /products?sort=.
//
//	tree := cost.New()
//	tree.Add("GPTBot", "/alice/app/blame/main.go", cost.Sum{Requests: 1, Octets: 2048})
//	for _, row := range tree.Rows(0.02) {
//		fmt.Println(row.Pattern, row.Sum.Requests)
//	}
//
// The memory is bounded, whatever the paths are.
package cost
