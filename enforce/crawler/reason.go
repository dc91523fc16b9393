package crawler

// Reason is why a User-Agent, or a part of it, names a crawler, in a few words.
type Reason string

// The reasons. After NoReason, which means no evidence, they are in the order from the strongest evidence to the weakest. The Strength of
// RegistryToken and SiteToken is ByToken, of ControlToken to namedProbe Declaration, and of the others ByForm.
const (
	NoReason           Reason = ""
	RegistryToken      Reason = "a User-Agent token of the registry"
	SiteToken          Reason = "a token of the site's robots.txt"
	ControlToken       Reason = "a preference in robots.txt, and not the name of a crawler" // no crawler sends it: no group but that for `*` applies
	CrawlerWord        Reason = "a word for a crawler"                                      // bot, AcmeSpider, AcmeCrawlerd
	CompatibleName     Reason = "a name after \"compatible\" that browsers don't send"
	CommentName        Reason = "a name in the KHTML comment, where browsers have none" // browsers have only `KHTML, like Gecko` there
	Contact            Reason = "a contact"                                             // a URL or an e-mail address, and one written as `ops at acme dot com`
	taskWord           Reason = "a word for what crawlers do"                           // AcmeChecker, AcmeMonitor
	namedProbe         Reason = "a health check's name"                                 // AcmeHealthCheck, acme-probe
	nameBefore         Reason = "a name before \"Mozilla\", with which browsers' User-Agents begin"
	nameAfter          Reason = "a name where browsers have their product"     // after an engine's comment
	placeholderVersion Reason = "a placeholder instead of a browser's version" // Chrome/W.X.Y.Z
	BareMozilla        Reason = "\"Mozilla/5.0\" without a browser or an engine"
	HostName           Reason = "a host name in place of a product"
	LibraryWord        Reason = "a word for an HTTP client"
	ProgramName        Reason = "only a program's name"
	overlong           Reason = "a User-Agent longer than any browser's" // longer than MaxUserAgent octets
	// the request has more User-Agent header fields than any browser sends; package enforce sets it, Identify never does
	ManyFields  Reason = "more User-Agent fields than any browser sends"
	NoUserAgent Reason = "no User-Agent" // empty, or without words and digits
)

// Strength is how strong the evidence is that a crawler sent a User-Agent.
type Strength string

// The strengths, the greatest first.
const (
	ByToken     Strength = "token"       // a token of the registry, or one that the site's robots.txt names
	Declaration Strength = "declaration" // the client declares that it is a crawler: by a word for one, a contact, or a name where browsers have none
	ByForm      Strength = "form"        // only the form of the User-Agent: a program's name alone, an HTTP client's name, no User-Agent
)

// Strength returns the strength of the reason as evidence; "" for NoReason.
func (r Reason) Strength() Strength {
	switch r {
	case NoReason:
		return ""
	case RegistryToken, SiteToken:
		return ByToken
	case ControlToken, CrawlerWord, CompatibleName, CommentName, Contact, taskWord, namedProbe:
		return Declaration
	}
	return ByForm
}
