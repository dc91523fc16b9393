// Package dashboard serves the page that shows what the robots handlers do now, and
// its data: the Caddy handler http.handlers.robots_dashboard. Dashboard decides who may
// see the page and which sites it shows, and ServeHTTP answers.
//
// The page is one document that contains its styles and scripts. It fetches its data
// from its own URL with a query (?data=live), so it works under any path. The data may
// come from attackers: the scripts never use it as markup, and the
// Content-Security-Policy allows no other scripts.
package dashboard
