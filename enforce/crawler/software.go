package crawler

import "strings"

// knownCrawler reports whether an agent is in the registry as a crawler or a service, not as software that apps are made with.
func (a *Agent) knownCrawler() bool {
	return a.Crawler != nil && (a.Class == Registered || a.Class == UserTriggered || a.Class == Webhook)
}

// platformToken reports whether an agent rests on fields that a program leaves in a browser's comment (`Unknown; Linux x86_64`), as consoles,
// telephones and televisions do too.
func platformToken(a *Agent) bool { return strings.Contains(a.Token, ";") }

// dropSoftware sees to crawling frameworks and HTTP libraries behind the name of the product that is made with them:
//   - behind a crawler of the registry or of the site, they are no second crawler;
//   - `Acme/1.0 (compatible; Framework/2.0)` and `Acme/1.0 (based on Framework/2.0)` are Acme, which obeys no group for the framework;
//   - `Acme/Framework-2.0` is Acme, made with a framework whose group it falls back to;
//   - `Acme/1.0 library/2.0` is Acme.
func (e *evidence) dropSoftware(ua string, id *Identity) {
	for i := 0; i < id.n; {
		a := &id.agents[i]
		if a.Class != Offline && a.Class != Library {
			i++
			continue
		}
		p := e.productBefore(a.Start)
		switch {
		case i > 0 && id.agents[i-1].Class != Offline && id.agents[i-1].Class != Library && sameField(ua, id.agents[i-1].End, a.Start):
			id.keep(func(k int) bool { return k != i })
		case !p.ok():
			i++
		case builtOn(ua, p.end, a.Start):
			*a = Agent{Class: SelfDeclared, Token: ua[p.start:p.end], Start: p.start, End: p.end, Reason: CompatibleName}
			i++
		case a.Class == Offline:
			a.Token = ua[p.start:p.end]
			i++
		default:
			id.keep(func(k int) bool { return k != i })
		}
	}
}

// sameField reports whether ua[from:to] stays within one field of a comment or one product.
func sameField(ua string, from, to int) bool {
	return from <= to && !strings.ContainsAny(ua[from:to], ";,") || builtOn(ua, from, to)
}

// productBefore returns the product that a User-Agent begins with if the software at position i is behind it: a name that no browser has.
func (e *evidence) productBefore(i int) span {
	if !e.first.ok() || e.first.start != 0 || e.first.end > i-1 || e.has(roleMozilla) || e.name.start != 0 || !e.name.ok() && !e.strong.ok() {
		return span{}
	}
	return e.first
}

// builtOn reports whether ua[from:to] says that what follows is software which the product before is made with.
func builtOn(ua string, from, to int) bool {
	between := ua[from:to]
	for _, phrase := range [...]string{"compatible;", "based on", "powered by", "built on", "using"} {
		if i := strings.LastIndex(between, phrase); i >= 0 && len(between)-i <= len(phrase)+2 {
			return true
		}
	}
	return false
}
