// Package suggest finds changes of a site's robots block in the Caddyfile that would
// have saved costs, from an audited log. Steps propose them (see package propose); the log is
// replayed with each.
//
//	r, err := audit.Run(ctx, options)
//	err = suggest.Add(ctx, &suggest.Input{Options: options, Report: r})
//	for _, s := range r.Suggestions {
//		fmt.Println(s.Text)
//	}
//
// Requests that name a crawler or come from a few addresses can be forged, so that
// they would write rules. Therefore a change is suggested only for what many addresses
// sent, and none that would have refused a person or a search engine.
package suggest
