// Package crawler identifies the sender of a request by its User-Agent: a
// person, or one or several crawlers, with the robots.txt groups that each
// obeys.
//
//	m := crawler.Builtin().Matcher([]string{"*", "AcmeBot"}) // the User-agent values of a site's robots.txt
//	cache := crawler.NewCache(10_000)
//	var id crawler.Identity
//	cache.Identify(m, r.Header.Get("User-Agent"), &id)
//	for _, a := range id.Agents() { … a.Class, a.Token, a.Crawler … }
//
// It uses three sources. The [Registry] has a row for each known crawler, with the source of each fact (registry.jsonl). A [Matcher]
// adds the tokens that one site's robots.txt names. The vocabulary (words.go) lists the words that browsers, apps, devices and
// robots send, so that people, and crawlers that are in no list, are recognised by the shape of their User-Agent.
//
// # Rules
//
// A User-Agent is read in one pass, up to [MaxUserAgent] octets; a longer one is never a person's. A token is a run of words: it begins
// and ends where a letter, a digit, `-` or `_` has no such octet beside it, or before a version (Token-1.7); the longest counts; case
// doesn't matter; `+` stands for a blank. A token does not count in a URL, in a host name, in an e-mail address or right after the word
// `like`. In an Android device's name, only tokens of the registry count. A token that apps send too does not count behind another word
// of its phrase. A User-Agent that names several crawlers yields all of them; software that a product is made with (`Acme/1.0
// (compatible; Framework/2.0)`, `Acme/1.0 library/2.0`) is not a second crawler.
//
// If no token is found, shapes count, from the surest to the weakest (see [Reason] and [Reason.Strength]): a word for a crawler (AcmeBot); a name
// after `compatible;` that no browser has; a contact; a robot's work (AcmeLinkChecker); a name where browsers have none; a program's name and
// nothing else. Three shapes only make a program, which no group for `*` binds unless the operator says so: a word that apps have in their names
// as often as robots do (agent, sync, reader), a name before a browser's User-Agent, and a name in the comment of a bare `Mozilla/5.0`. Weak
// shapes don't count where something indicates a person: a browser's name, a layout engine, an operating system, a maker of devices or a model's
// number. An app in the form that its platform gives it (`Chatbot/42 CFNetwork/1485 Darwin/23.1.0`) counts as a person, whatever its name.
//
// # What it is not
//
// It does not check whether a User-Agent is true: a client that sends a
// browser's counts as a person, and one that forges a crawler's counts as that
// crawler. [Verify] has the facts with which another package can check a claim.
// This package decides nothing about requests and does not evaluate robots.txt
// rules.
package crawler
