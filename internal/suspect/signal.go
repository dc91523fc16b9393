package suspect

import (
	"math/bits"
	"strings"
)

// Signal is a behaviour that robots show and people do not. A Watch forgets signals
// after 24 hours.
//
// The comments name the false positives: what a person could do to raise the signal.
// The tests in bench/suspects simulate people: a headless Chromium reads pages with
// embedded files, goes back, reloads, opens tabs, prefetches and prerenders, and 50
// simulated people share one address. They raise none of the signals.
type Signal uint8

const (
	// MintedTrap is strong. It is a request for a trap URL that was minted for the
	// same address (see Network) and site in the last 24 hours. People do not see the link to that
	// URL, and robots.txt disallows it to every crawler.
	//
	// False positives: a person who finds the URL in the page's source and opens
	// it; tools that open every link of a page for a person, such as link checkers
	// in a browser; a person who gets the URL from somebody at the same address.
	// Prefetches, and links and images on other sites, do not count.
	MintedTrap Signal = iota

	// RobotsTxt is strong. It is a request for /robots.txt over HTTPS without any
	// Sec-Fetch-* field, with the User-Agent of a browser that always sends them,
	// also when a person opens /robots.txt.
	//
	// False positives: a person who opens /robots.txt behind a proxy that decrypts
	// HTTPS and removes fields it does not know; a tool that sends the User-Agent
	// of its user's browser. Other requests of people behind such a proxy raise no
	// second signal as long as they fetch embedded files.
	RobotsTxt

	// OtherTrap is weak. It is a request for a trap URL that was minted for another
	// address: some robots collect URLs with one machine and fetch them with another.
	// Together with MintedTrap or StaticTrap it counts as one signal.
	//
	// False positives: a telephone that changes its network between the page and
	// the link; a person who gets the URL from somebody else; a cache in front of
	// the site that sends one page to everybody.
	OtherTrap

	// StaticTrap is weak. It is a request for any other URL below the path of a
	// trap. Anybody can link to such URLs.
	//
	// False positives: a link that people or assistive technology can see; a URL
	// that somebody passed on.
	StaticTrap

	// Documents is weak. The visitor requests many documents and none of the files
	// that they embed, on a site with at least 10 visitors of which more than half
	// fetch such files. (Visitors count there from their third document on, and only
	// those with all three Sec-Fetch-* fields.) It is raised at 100 documents with
	// all three fields, otherwise at 20.
	//
	// False positives: text browsers, and browsers that load no images or styles; a
	// browser whose cache has all embedded files of the site.
	Documents

	// Pace is weak. The visitor requests documents too fast: each document adds 1 to
	// a count, and every two seconds subtract 1. The signal is raised when the count
	// reaches 40; the count then begins again at 0. A reload of the last document
	// adds nothing.
	//
	// With all three Sec-Fetch-* fields, the count also begins again when the
	// connection changes, so that people who share an address are not added up.
	// Requests without Request.Connection are not counted then. If at least one of
	// the fields is missing, the connection does not matter, and the signal is not
	// raised if the visitor requested at least one embedded file for every four
	// documents.
	//
	// False positives: a browser that restores more than 40 tabs of one site at
	// once.
	Pace

	// ClientHints is weak. Sec-CH-UA contradicts the User-Agent: it has another
	// version of Chromium, names a headless browser, or the named browser never
	// sends this field.
	//
	// False positives: browser extensions that change the User-Agent.
	ClientHints

	signals
)

var signalNames = [signals]string{
	MintedTrap: "trap", RobotsTxt: "robots_txt", OtherTrap: "trap_other", StaticTrap: "trap_static",
	Documents: "documents", Pace: "pace", ClientHints: "client_hints",
}

// String returns the name of the signal in logs, metrics and placeholders: trap,
// robots_txt, trap_other, trap_static, documents, pace or client_hints, in the order
// of the constants.
func (s Signal) String() string { return signalNames[s] }

// Strong reports whether the signal is strong.
func (s Signal) Strong() bool { return strong.Has(s) }

// Signals is a set of signals.
type Signals uint8

const (
	strong = Signals(1<<MintedTrap | 1<<RobotsTxt)
	traps  = Signals(1<<MintedTrap | 1<<OtherTrap | 1<<StaticTrap)
)

// Has reports whether s contains a signal.
func (s Signals) Has(one Signal) bool { return s&(1<<one) != 0 }

// String returns the names of the signals, separated by commas.
func (s Signals) String() string {
	var names []string
	for one := range signals {
		if s.Has(one) {
			names = append(names, one.String())
		}
	}
	return strings.Join(names, ",")
}

// suspicious reports whether s contains two independent signals, at least one of
// them strong. All kinds of traps together count as one.
func (s Signals) suspicious() bool {
	independent := bits.OnesCount8(uint8(s &^ traps))
	if s&traps != 0 {
		independent++
	}
	return s&strong != 0 && independent >= 2
}
