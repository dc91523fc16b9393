// Package document reads remote documents regularly, such as lists of addresses
// and registries of crawlers, and keeps the last good copy of each. It does not
// know what is in a document: a [Source] gets a function that parses it.
//
//	r := document.NewReader(document.Config{Storage: storage, Folder: "robots/lists"})
//	defer r.Close()
//	s := &document.Source[*list]{URL: "https://example.com/list.json", Parse: parseList}
//	go s.Run(ctx, r, func(changed bool, err error) { log(err) })
//	if c := s.Copy(); c != nil {
//		use(c.Value)
//	}
package document
