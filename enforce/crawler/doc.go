// Package crawler tells who sent a request by its User-Agent: a person, or which crawler, and which groups of a robots.txt it obeys.
//
//	m := crawler.Builtin().Matcher([]string{"*", "AcmeBot"}) // the User-agent values of a site's robots.txt
//	cache := crawler.NewCache(10_000)
//	var id crawler.Identity
//	cache.Identify(m, r.Header.Get("User-Agent"), &id)
//	for _, a := range id.Agents() { … a.Class, a.Token, a.Crawler … }
//
// What it knows is in three places. The [Registry] has a row for each known crawler, with the source of each fact (registry.jsonl).
// A [Matcher] adds the tokens that one site's robots.txt names. The vocabulary (words.go) says what browsers, apps, devices and robots
// call themselves, so that crawlers which nobody has listed are known by the shape of their User-Agent, and people by theirs.
//
// # Rules
//
// One pass over at most [MaxUserAgent] octets; what is longer is no person's. A token is a run of words: it begins and ends where a letter, a
// digit, `-` or `_` has no such octet beside it, or before a version (Token-1.7); the longest counts; case doesn't matter; `+` stands for
// a blank. A token in a URL, in a host name, in an e-mail address or right after the word `like` is no evidence. Neither is one in an
// Android device's name, unless it is a crawler's in the registry, nor one that apps send too behind another word of its phrase. A User-Agent that names several crawlers yields them all; software that
// a product is made with (`Acme/1.0 (compatible; Framework/2.0)`, `Acme/1.0 library/2.0`) is no second crawler.
//
// Where there is no token, shapes count, from the surest to the weakest (see [Reason] and [Reason.Strength]): a word for a crawler (AcmeBot); a name
// after `compatible;` that no browser has; a contact; a robot's work (AcmeLinkChecker); a name where browsers have none; a program's name and
// nothing else. A word that apps have in their names no less than robots (agent, sync, reader), a name before a browser's User-Agent and one in
// the comment of a bare `Mozilla/5.0` make no more than a program, which nothing binds unless the operator says so. Whatever speaks for a person,
// a browser's name, a layout engine, an operating system, a maker of devices, a model's number, rules the weak ones out. An app in the form that its
// platform gives it (`Chatbot/42 CFNetwork/1485 Darwin/23.1.0`) is a person's whatever its name.
//
// # What it is not
//
// It believes the User-Agent: whoever sends a browser's is a person here, and a forged crawler's is that crawler's. [Verify] has the facts
// with which a claim can be checked; doing so is not this package's part. It decides nothing about requests and knows no robots.txt rules.
package crawler
