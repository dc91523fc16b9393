package advice

import (
	"net"
	"strings"

	"github.com/caddyserver/caddy/v2"
)

// Admin is the address of the admin endpoint, as Caddy's configuration has it; "" if there
// is none.
type Admin string

// post returns a command that sends a POST request for a route of the admin API, with its
// query; "" if there is no admin endpoint that curl reaches.
func (a Admin) post(route string) string {
	address, err := caddy.ParseNetworkAddress(string(a))
	if a == "" || err != nil || address.IsFdNetwork() {
		return ""
	}
	command := "curl -X POST "
	if address.IsUnixNetwork() {
		path, _, _ := strings.Cut(address.Host, "|") // the permissions
		option := "--unix-socket "
		if rest, ok := strings.CutPrefix(path, "@"); ok {
			option, path = "--abstract-unix-socket ", rest
		}
		command, address = "curl "+option+Quote(path)+" -X POST ", caddy.NetworkAddress{Host: "localhost", StartPort: 80}
	} else if ip := net.ParseIP(address.Host); address.Host == "" || ip != nil && ip.IsUnspecified() {
		address.Host = "localhost"
	}
	host := strings.TrimSuffix(address.JoinHostPort(0), ":80")
	return command + Quote("http://"+host+"/robots/"+route)
}

// Quote returns a word for a shell.
func Quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
