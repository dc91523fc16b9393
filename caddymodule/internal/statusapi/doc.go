// Package statusapi defines the data about a running robots app. The admin API below
// /robots/ sends it as JSON, and the dashboard and `caddy robots status` show it.
//
// A Reporter provides the data. A Scope restricts it to the sites that a client may
// see. ServeHTTP answers a request with data of the Reporter.
//
// The data has no query strings, hidden paths, full addresses or credentials. Many
// strings come from clients, such as User-Agents and paths: programs that show them
// must escape them.
package statusapi
