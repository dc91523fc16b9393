package crawler

import (
	"cmp"
	"fmt"
	"slices"
)

// Class is the kind of client that a User-Agent names. It decides which rules of a robots.txt apply. The zero value is Person.
type Class uint8

// The classes. A group that names a crawler applies to it whatever its class. Whether the group for `*` applies depends on the class.
const (
	Person        Class = iota // a browser or an app that a person uses: no group applies
	Registered                 // a crawler in the registry: `*` applies unless its operator documents that the crawler ignores `*`
	Named                      // a crawler that only the site's robots.txt names: the group that names it applies
	SelfDeclared               // declares that it is a crawler, and is not in the registry: `*` applies
	UserTriggered              // fetches a page because a person asked for it: `*` applies to GET and HEAD if the site's operator wants that
	Scraper                    // an offline browser or a scraping framework: `*` applies
	Webhook                    // delivers an event that the site asked for: `*` never applies
	Probe                      // checks whether a site works, for its operator: `*` never applies
	// sends only a program's name, or is a known tool that fetches single documents: `*` applies if the site's operator wants that
	Program
	Library // an HTTP library, or an empty User-Agent: `*` applies if the site's operator wants that
	App     // only of rows of the registry: an app that people use. Its clients count as Person
)

var classNames = [...]string{
	Person:        "person",
	Registered:    "crawler",
	Named:         "named",
	SelfDeclared:  "self-declared",
	UserTriggered: "user-triggered",
	Scraper:       "scraper",
	Webhook:       "webhook",
	Probe:         "probe",
	Program:       "program",
	Library:       "library",
	App:           "app",
}

// registryClasses are the names of the classes that rows of the registry can have, for errors.
const registryClasses = `"crawler", "user-triggered", "scraper", "webhook", "probe", "program", "library" and "app"`

// inRegistry reports whether rows of the registry can have the class.
func (c Class) inRegistry() bool {
	return Registered <= c && c <= App && c != Named && c != SelfDeclared
}

// String returns the name of the class in the registry file, logs and metrics: person, crawler (for Registered), named, self-declared,
// user-triggered, scraper, webhook, probe, program, library or app.
func (c Class) String() string { return nameOf(classNames[:], c) }

// ParseClass is the inverse of [Class.String]. It accepts the names of all eleven classes, although only eight can be in a registry file; any
// other string is an error.
func ParseClass(s string) (Class, error) {
	return valueOf[Class](classNames[:], s, "unknown class %q: those of a registry are "+registryClasses)
}

// MarshalText returns what String returns.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (c *Class) UnmarshalText(text []byte) (err error) {
	*c, err = ParseClass(string(text))
	return err
}

// nameOf returns the name of a value, "" if it has none.
func nameOf[V ~uint8](names []string, v V) string {
	if int(v) < len(names) {
		return names[v]
	}
	return ""
}

// valueOf returns the value with a name. unknown is the format of the error for any other name.
func valueOf[V ~uint8](names []string, name, unknown string) (V, error) {
	if i := slices.Index(names, name); i >= 0 {
		return V(i), nil
	}
	return 0, fmt.Errorf(unknown, name)
}

// Tri is a fact that is documented to be true, documented to be false, or not
// documented. The zero value is Unknown.
type Tri uint8

// The three states of a documented fact.
const (
	Unknown Tri = iota // no document states it
	Yes
	No
)

var triNames = [...]string{Unknown: "unknown", Yes: "yes", No: "no"}

// String returns "unknown", "yes" or "no".
func (t Tri) String() string { return nameOf(triNames[:], t) }

func parseTri(s string) (Tri, error) {
	return valueOf[Tri](triNames[:], cmp.Or(s, triNames[Unknown]), `unknown value %q: write "yes", "no" or "unknown"`)
}

// RunBy is who runs a crawler: one operator, or anyone who installs the software; "" if no document states it. Unrelated people who run
// the same software send the same User-Agent.
type RunBy string

// The values of RunBy.
const (
	ByOperator RunBy = "operator" // the operator's own machines
	ByAnyone   RunBy = "anyone"   // anyone who installs the software: wget, feed readers, Fediverse servers, HTTP libraries
)

// Purpose is what an operator does with the pages that its crawler fetches. A
// crawler may have several.
type Purpose string

// The purposes in the built-in registry. Rows that are added may have others.
const (
	Search         Purpose = "search"         // an index that people search
	AITraining     Purpose = "ai-training"    // training data for models
	AISearch       Purpose = "ai-search"      // an index that a model answers from
	AIUser         Purpose = "ai-user"        // pages that a model reads for a person's question
	AIAgent        Purpose = "ai-agent"       // a model that acts for a person
	AIData         Purpose = "ai-data"        // collections of pages for others
	UserRequest    Purpose = "user-triggered" // pages that a person requested through a service
	SEO            Purpose = "seo"            // link indexes and site audits
	Archive        Purpose = "archive"        // web archives
	Preview        Purpose = "preview"        // previews of links
	ImageProxy     Purpose = "image-proxy"    // images in pages and mails
	Social         Purpose = "social"         // content of a social network
	Monitor        Purpose = "monitor"        // availability and speed
	Ads            Purpose = "ads"            // advertisements
	Feed           Purpose = "feed"           // feeds
	Shopping       Purpose = "shopping"       // offers and prices
	Favicon        Purpose = "favicon"        // site icons
	Security       Purpose = "security"       // malware, phishing, exposed services
	Validator      Purpose = "validator"      // checks of markup and links
	Plagiarism     Purpose = "plagiarism"     // comparison with submitted texts
	Intelligence   Purpose = "intelligence"   // brand and media monitoring
	Data           Purpose = "data"           // company, contact and domain data
	Research       Purpose = "research"       // studies
	Downloader     Purpose = "scraper"        // downloads of whole sites
	LibraryUse     Purpose = "library"        // libraries and command-line clients
	Test           Purpose = "test"           // browsers that a program controls
	WebhookEvent   Purpose = "webhook"        // events that the site asked for: payments, pushes, forms
	Infrastructure Purpose = "infrastructure" // checks of a hosting service
)
