package crawler

// Reason says why a User-Agent, or a part of it, names a crawler.
type Reason uint8

// The reasons, from the surest to the weakest.
const (
	NoReason        Reason = iota
	RegistryToken          // a User-Agent token of the registry
	SiteToken              // a token that the site's robots.txt names
	ControlToken           // a robots.txt token that no crawler is known to send
	CrawlerWord            // a word for a crawler: bot, …spider, Crawler…
	CompatibleName         // the name that follows `compatible;`, as no browser has it
	CommentName            // a name in the comment that browsers fill with `KHTML, like Gecko` alone
	Contact                // a URL or an e-mail address, spelt out or not
	RobotsWork             // a word for what robots do: …Checker, …Monitor
	NameBefore             // a name before the `Mozilla/5.0` that browsers begin with
	NameBehind             // a name behind a browser's products, where that browser has none
	TemplateVersion        // a word for a browser's version, as documentation has it: Chrome/W.X.Y.Z
	BareMozilla            // `Mozilla/5.0` without a browser or an engine
	HostName               // a host name for a product
	LibraryWord            // a word for an HTTP client
	ProgramName            // a program's name, and nothing else
	Overlong               // longer than any browser's
	ManyFields             // more User-Agent fields than any browser sends
	NoUserAgent            // empty, or without a word
)

var reasonTexts = [...]string{
	NoReason:        "",
	RegistryToken:   "a User-Agent token of the registry",
	SiteToken:       "a token of the site's robots.txt",
	ControlToken:    "a robots.txt token that no crawler is known to send",
	CrawlerWord:     "a word for a crawler",
	CompatibleName:  "a name after \"compatible\" that is no browser's",
	CommentName:     "a name in the comment on KHTML, where browsers have none",
	Contact:         "a contact",
	RobotsWork:      "a word for a robot's work",
	NameBefore:      "a name before \"Mozilla\", with which browsers begin",
	NameBehind:      "a name behind a browser's, where that browser has none",
	TemplateVersion: "a word where browsers have their version",
	BareMozilla:     "\"Mozilla/5.0\" without a browser or an engine",
	HostName:        "a host name for a product",
	LibraryWord:     "a word for an HTTP client",
	ProgramName:     "a program's name and nothing else",
	Overlong:        "a User-Agent longer than any browser's",
	ManyFields:      "more User-Agent fields than any browser sends",
	NoUserAgent:     "no User-Agent",
}

// String says the reason in words.
func (r Reason) String() string {
	if int(r) < len(reasonTexts) {
		return reasonTexts[r]
	}
	return ""
}

// Strength says how sure the evidence is that a User-Agent is a crawler's.
type Strength uint8

// The strengths, the greatest first. The zero value stands for no evidence.
const (
	NoStrength  Strength = iota
	ByToken              // a token of the registry, or one that the site's robots.txt names
	Declaration          // the client says of itself that it is a robot: by a word for one, a contact, or a name where browsers have none
	ByForm               // nothing but the form of the User-Agent: a program's name alone, an HTTP client's, none at all
)

var strengthNames = [...]string{NoStrength: "", ByToken: "token", Declaration: "declaration", ByForm: "form"}

// String returns "token", "declaration" or "form"; "" for no evidence.
func (s Strength) String() string {
	if int(s) < len(strengthNames) {
		return strengthNames[s]
	}
	return ""
}

// Strength says how sure the reason is.
func (r Reason) Strength() Strength {
	switch r {
	case NoReason:
		return NoStrength
	case RegistryToken, SiteToken:
		return ByToken
	case ControlToken, CrawlerWord, CompatibleName, CommentName, Contact, RobotsWork:
		return Declaration
	}
	return ByForm
}
