// Package suggest proposes changes of a site's robots block in the Caddyfile that would
// have saved costs, from an audited log.
//
//	r, err := audit.Run(ctx, options)
//	err = suggest.Add(ctx, &suggest.Input{Options: options, Report: r})
//	for _, s := range r.Suggestions {
//		fmt.Println(s.Text)
//	}
//
// Requests that name a crawler or come from a few addresses can be forged, so that
// they would write rules. Therefore a change is proposed only for what many addresses
// sent over days, and none that would have refused a person or a search engine. The
// engine decides what each change would have saved: it replays the log. A storm of strangers lasts minutes:
// challenge is proposed for a log of any length, and never for the whole site.
package suggest
