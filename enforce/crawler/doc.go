// Package crawler identifies the sender of a request by its User-Agent: a
// person, or one or several crawlers with the robots.txt groups that each obeys.
//
//	m := crawler.Builtin().Matcher([]string{"*", "AcmeBot"}) // the User-agent values of a site's robots.txt
//	cache := crawler.NewCache(10_000)
//	var id crawler.Identity
//	cache.Identify(m, r.Header.Get("User-Agent"), &id)
//	for _, a := range id.Agents() { … a.Class, a.Token, a.Crawler … }
//
// It uses three sources. The [Registry] has a row for each known crawler, with the source of each fact. A [Matcher]
// adds the tokens that one site's robots.txt names. A built-in vocabulary lists words that browsers, apps, devices and crawlers
// send. It serves to recognise people, and crawlers that are in no list, by the form of their User-Agent.
//
// # Tokens
//
// A User-Agent is read once, up to [MaxUserAgent] octets. A longer one is never a person's. These rules apply to tokens:
//
//   - A token matches whole words, in any case. A word consists of letters, digits, `-`, `_` and non-ASCII octets. A version may follow the
//     token in the same word (Token-1.7). A `+` in the User-Agent matches a space in the token.
//   - Of several tokens that match at the same place, the longest counts.
//   - A token does not count in a URL, in a host name, in an e-mail address or right after the word `like`. A token that is a URL matches
//     that URL with and without its scheme, `www.` and the slash at its end.
//   - A token that only the site names does not count in the User-Agent of a browser or an app, except behind the products of a browser on a
//     computer.
//   - In the name of an Android device, a token counts only if it is among the UserAgents of a crawler of the class Registered or UserTriggered, or
//     if only the site names it and it contains a word for a crawler (AcmeBot).
//   - A token that apps send too (Crawler.Shared) does not count if only a space separates it from a word before it: `Acme Pinterest` does
//     not name Pinterest's crawler.
//   - A User-Agent that names several crawlers yields all of them. Software that a product is made with (`Acme/1.0 (compatible;
//     Framework/2.0)`, `Acme/1.0 library/2.0`, `AcmeBot/1.0 based on OtherBot`) is not a second crawler.
//   - In a window of Electron, only tokens of crawlers count, not those of fetchers and tools.
//
// # Evidence without a token
//
// If no token is found, the words and the form of the User-Agent count, from the strongest evidence to the weakest (see [Reason] and
// [Reason.Strength]):
//
//   - a word for a crawler (AcmeBot)
//   - a name after `compatible;` that browsers don't send
//   - a contact: a URL or an e-mail address
//   - a word for what crawlers do (AcmeLinkChecker)
//   - a name in a place where browsers have none
//   - only a program's name
//
// Some forms yield only a [Program], to which no group for `*` applies unless the site's operator wants that. Examples are a word that is
// as common in names of apps as in names of crawlers (agent, sync, reader), a name before a browser's User-Agent, and a name in the comment
// of a bare `Mozilla/5.0`.
//
// A program's name, an HTTP client's name, a bare `Mozilla/5.0` and a word that apps send too (search, seeker) do not count if anything
// indicates a person: the name of a browser, a layout engine, an operating system or a maker of devices, or a device's model number.
// Exceptions are some User-Agents in which only a computer's operating system indicates a person. A name or a host name next to a browser's
// User-Agent, where browsers have none, and a placeholder instead of a browser's version count although a browser is named.
//
// A contact counts for nothing next to what makes a client an app: a system or a device that people use, a runtime of apps, a player, an
// identifier such as com.example.app.
//
// An app whose User-Agent has the form that its platform gives it (`Chatbot/42 CFNetwork/1485 Darwin/23.1.0`) counts as a person, whatever
// its name.
//
// # What the package does not do
//
// It does not check whether a User-Agent is true. A client that sends a
// browser's User-Agent counts as a person, and one that sends a crawler's counts
// as that crawler. [Verify] has the facts with which another package can check
// such a claim. This package makes no decisions about requests and does not
// evaluate robots.txt rules.
package crawler
