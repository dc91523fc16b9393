package suspect

import (
	"math/bits"
	"strings"
)

// Signal is one thing that robots do and people do not. Signals are forgotten
// after 24 hours.
//
// The rates are those of the sessions of people in the browser tests of module
// bench (a headless Chromium that reads pages with embedded files, goes back,
// reloads, opens tabs, prefetches and prerenders; and 50 people at one
// address): see docs/suspects.md.
type Signal uint8

const (
	// MintedTrap is strong: a request for a trap URL that was minted for the
	// same address and site in the last 24 hours. The link to it is hidden from
	// people, and robots.txt disallows it to every crawler.
	//
	// What breaks it: a person who reads the page's source and opens the URL;
	// tools that open every link of a page for a person, such as link checkers
	// in a browser; a person who is sent the URL by somebody at the same
	// address. Prefetches, and links and images on other sites, do not count.
	// Raised in 0 of the measured sessions of people.
	MintedTrap Signal = iota

	// RobotsTxt is strong: /robots.txt is read over HTTPS with the User-Agent
	// of a browser that always sends Sec-Fetch-* fields, and none is there. A
	// person who opens /robots.txt in that browser sends them.
	//
	// What breaks it: a proxy that decrypts HTTPS and strips fields it does not
	// know, with somebody behind it who opens /robots.txt; a tool that takes
	// the User-Agent of its user's browser. What people behind such a proxy do
	// besides raises no second signal as long as they fetch embedded files.
	// Raised in 0 of the measured sessions of people.
	RobotsTxt

	// OtherTrap is weak: a trap URL that was minted for another address. One
	// machine collects URLs and another one fetches them.
	//
	// What breaks it: the network of a person's telephone changes between the
	// page and the link; somebody passes the URL on; caches in front of the
	// site that give one page to everybody. It counts as the same evidence as
	// MintedTrap. Raised in 0 of the measured sessions of people.
	OtherTrap

	// StaticTrap is weak: any other URL below the path of a trap. People can
	// come there by links of anybody.
	//
	// What breaks it: a link that is visible to people or to assistive
	// technology; a URL that was passed on. Raised in 0 of the measured
	// sessions of people.
	StaticTrap

	// Documents is weak: many documents and not one of the files that they
	// embed, on a site where most visitors fetch such files. The number is 20
	// without Sec-Fetch-* fields and 100 with them.
	//
	// What breaks it: text browsers and browsers that load no images or
	// styles; a cache that has all embedded files of the site from an earlier
	// visit. Raised in 0 of the measured sessions of people.
	Documents

	// Pace is weak: 40 different documents more than one every two seconds
	// would be, without a pause. With Sec-Fetch-* fields they are counted over
	// one connection, so that people who share an address are not added up, and
	// not at all behind a proxy, which mixes connections. Without these fields
	// they are counted by address, unless a quarter as many embedded files are
	// fetched.
	//
	// What breaks it: a browser that restores a session of more than 40 tabs
	// of one site at once. Raised in 0 of the measured sessions of people.
	Pace

	// ClientHints is weak: Sec-CH-UA contradicts the User-Agent. It has another
	// version of Chromium, names a headless browser, or comes from a browser
	// that does not have the field.
	//
	// What breaks it: extensions that change the User-Agent. Raised in 0 of the
	// measured sessions of people.
	ClientHints

	signals
)

var signalNames = [signals]string{
	MintedTrap: "trap", RobotsTxt: "robots_txt", OtherTrap: "trap_other", StaticTrap: "trap_static",
	Documents: "documents", Pace: "pace", ClientHints: "client_hints",
}

// String returns the signal's name as logs, metrics and placeholders show it.
func (s Signal) String() string { return signalNames[s] }

// Strong reports whether the signal is strong.
func (s Signal) Strong() bool { return strong.Has(s) }

// Signals is a set of signals.
type Signals uint8

const (
	strong = Signals(1<<MintedTrap | 1<<RobotsTxt)
	traps  = Signals(1<<MintedTrap | 1<<OtherTrap | 1<<StaticTrap)
)

// Has reports whether s has a signal.
func (s Signals) Has(one Signal) bool { return s&(1<<one) != 0 }

// String returns the names of the signals, with commas between them.
func (s Signals) String() string {
	var names []string
	for one := range signals {
		if s.Has(one) {
			names = append(names, one.String())
		}
	}
	return strings.Join(names, ",")
}

// suspicious reports whether s has two independent signals, at least one of
// them strong. Traps of all kinds are one.
func (s Signals) suspicious() bool {
	independent := bits.OnesCount8(uint8(s &^ traps))
	if s&traps != 0 {
		independent++
	}
	return s&strong != 0 && independent >= 2
}
