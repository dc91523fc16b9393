package registry

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/document"
)

// localDomains are the top-level domains of names in local networks: RFC 6761,
// RFC 6762 with its appendix G, the list of special-use domain names, and ICANN's
// resolution on private use.
var localDomains = []string{"localhost", "local", "internal", "arpa", "lan", "home", "corp", "intranet", "private", "test"}

// maxHosts is the number of host suffixes that a row of a third party can have.
const maxHosts = 32

// checkFacts returns an error if the facts for verification in a row of a third
// party can't be used, or would make this server ask its own network.
func checkFacts(facts *crawler.Verify) error {
	if len(facts.Hosts) > maxHosts {
		return fmt.Errorf("verify: %d hosts: the limit is %d", len(facts.Hosts), maxHosts)
	}
	for _, suffix := range facts.Hosts {
		if err := verify.CheckSuffix(suffix); err != nil {
			return fmt.Errorf("verify: hosts: %w", err)
		}
		if isLocal(suffix) {
			return fmt.Errorf("verify: hosts: %q is in a local network", suffix)
		}
	}
	for _, address := range slices.Concat(facts.Ranges, facts.SignatureAgents) {
		u, err := document.ParseURL(address)
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		if isLocal(u.Hostname()) {
			return fmt.Errorf("verify: %q is the URL of a loopback or private address", u.Redacted())
		}
	}
	return nil
}

// isLocal reports whether a host is a loopback or private address, even in a form
// that only resolvers read, or a name in a local network.
func isLocal(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return verify.IsSpecial(addr.Unmap().WithZone(""))
	}
	host = strings.ToLower(strings.Trim(host, "."))
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last == host || slices.Contains(localDomains, last) || '0' <= last[0] && last[0] <= '9'
}
