package crawler

import (
	"slices"
	"strings"
)

// knownCrawler reports whether an agent is in the registry as a crawler or a service, not as software with which apps are made.
func (a *Agent) knownCrawler() bool {
	return a.Crawler != nil && (a.Class == Registered || a.Class == UserTriggered || a.Class == Webhook || a.Class == Probe)
}

// crawlsAlone reports whether an agent crawls also as a program with windows (Sitebulb). Fetchers and tools do so only by another name.
func crawlsAlone(a *Agent) bool {
	return a.Class != UserTriggered && a.Class != Program && a.Class != Library || parts(a.Token)&roleCrawlerWord != 0
}

// platformToken reports whether an agent's token is several fields of a browser's comment (`Unknown; Linux x86_64`). Consoles, telephones
// and televisions can have the same fields.
func platformToken(a *Agent) bool { return strings.Contains(a.Token, ";") }

// dropDrivenBrowsers removes browsers that a program controls (HeadlessChrome)
// if the User-Agent names a probe too: the probe controls the browser.
func dropDrivenBrowsers(id *Identity) {
	if slices.ContainsFunc(id.Agents(), func(a Agent) bool { return a.Class == Probe }) {
		id.keep(func(i int) bool {
			c := id.agents[i].Crawler
			return c == nil || c.Class != Scraper || c.Purpose() != Test
		})
	}
}

// dropSoftware handles crawling frameworks and HTTP libraries that follow the name of a product that is made with them:
//   - After another crawler, in the same field, they are removed: they are not a second crawler.
//   - `Acme/1.0 (compatible; Framework/2.0)` and `Acme/1.0 (based on Framework/2.0)` become Acme. A group for the framework does not apply.
//   - `Acme/Framework-2.0` becomes Acme. If robots.txt has no group for Acme, a group for the framework applies.
//   - `Acme/1.0 library/2.0` becomes Acme.
func (e *evidence) dropSoftware(ua string, id *Identity) {
	for i := 0; i < id.n; {
		a := &id.agents[i]
		if a.Class != Scraper && a.Class != Library {
			if i > 0 && id.agents[i-1].End <= a.Start && follows(ua[id.agents[i-1].End:a.Start], madeWith...) {
				id.keep(func(k int) bool { return k != i }) // -- based on BUbiNG
				continue
			}
			i++
			continue
		}
		p := e.productBefore(a.Start)
		switch {
		case i > 0 && id.agents[i-1].Class != Scraper && id.agents[i-1].Class != Library && sameField(ua, id.agents[i-1].End, a.Start):
			id.keep(func(k int) bool { return k != i })
		case !p.ok():
			i++
		case a.Class == Scraper && builtOn(ua, p.end, a.Start) || follows(ua[p.end:a.Start], "compatible;"):
			*a = newAgent(ua, p, SelfDeclared, CompatibleName)
			i++
		case a.Class == Scraper:
			a.Token = ua[p.start:p.end]
			i++
		default:
			id.keep(func(k int) bool { return k != i })
		}
	}
}

// sameField reports whether ua[from:to] stays in one field of a comment, or says that the software after it is part of the product before
// it.
func sameField(ua string, from, to int) bool {
	return from <= to && !strings.ContainsAny(ua[from:to], ";,") || builtOn(ua, from, to)
}

// productBefore returns the product at the beginning of the User-Agent if the software at position i follows it and no browser has its
// name. Otherwise it returns an empty span.
func (e *evidence) productBefore(i int) span {
	if !e.at[firstAt].ok() || e.at[firstAt].start != 0 || e.at[firstAt].end > i-1 || e.has(roleMozilla) || e.at[nameAt].start != 0 || !e.at[nameAt].ok() &&
		!e.at[crawlerAt].ok() {
		return span{}
	}
	return e.at[firstAt]
}

// builtOn reports whether the software after ua[from:to] is part of the product before it.
func builtOn(ua string, from, to int) bool {
	return follows(ua[from:to], "compatible;") || follows(ua[from:to], madeWith...)
}

// madeWith are the phrases with which a product names its software.
var madeWith = []string{"based on", "powered by", "built on", "built with", "made with", "using", "uses", "running", "running on", "runs on", "on top of",
	"derived from", "forked from", "fork of"}

// follows reports whether a text ends with one of some phrases, in any case, and perhaps an article.
func follows(text string, phrases ...string) bool {
	text = strings.TrimRight(text, " \"'(:")
	for _, article := range [...]string{" the", " a", " an"} {
		if cut := len(text) - len(article); cut > 0 && strings.EqualFold(text[cut:], article) {
			text = text[:cut]
		}
	}
	return slices.ContainsFunc(phrases, func(phrase string) bool {
		cut := len(text) - len(phrase)
		return cut >= 0 && strings.EqualFold(text[cut:], phrase) && (cut == 0 || !letter(text[cut-1]))
	})
}

// newAgent returns an agent. The octets of why are the evidence and the product token.
func newAgent(ua string, why span, class Class, reason Reason) Agent {
	return Agent{Class: class, Token: ua[why.start:why.end], Start: why.start, End: why.end, Reason: reason}
}
