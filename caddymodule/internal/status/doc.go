// Package status has what the robots app tells about itself while it runs: the
// admin API below /robots/, the dashboard and `caddy robots status` all show
// these values, and send them as this JSON.
//
// A Reporter makes the values, restricted by a Scope to the sites that whoever
// asks may see. ServeHTTP turns a request into a call of the Reporter and its
// result into an answer.
//
// None of the values holds a query string, a hidden path, a full address or a
// credential. Strings come from strangers all the same: whoever shows them
// escapes them.
package status
