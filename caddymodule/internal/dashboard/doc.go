// Package dashboard has the page that shows what the robots handlers do now,
// and the types of the data that the page asks for. It decides nothing and
// knows nothing of Caddy: who may see the page, and which hosts, is the
// caller's to decide.
//
// The page is one document with its styles and scripts inside. It asks for
// data at its own URL with a query (?data=live), so it works under any path.
// Everything that it shows may have been made up by a stranger: the scripts
// only ever set text, and the Content-Security-Policy allows no other script.
package dashboard
