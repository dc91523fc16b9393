// Package verify checks whether a request comes from the crawler that its
// User-Agent names. A User-Agent is a claim: anybody can send one.
//
// There are three methods: published address lists, forward-confirmed reverse
// DNS, and signatures of requests (Web Bot Auth, RFC 9421). The registry states
// which of them a crawler's operator documents. No request waits for the network:
// lists are in memory, DNS is queried in the background and its answers are
// cached, and a signature is checked with keys that were fetched before.
//
//	v := verify.New(verify.Config{Lists: true, DNS: true, Signatures: true})
//	defer v.Close()
//	checker, err := v.Bind(crawler.Builtin())
//	...
//	defer checker.Close()
//	v.Start(storage)
//	client := claim.Client{Addr: addr, Proof: checker.Proof("example.com", false)}
//	result := checker.Address(row, client, time.Now())
//	if result.State == claim.Impostor { /* 403 */ }
//
// The package does not depend on Caddy, writes no log and registers no metrics.
// An [Observer] receives what happens in the background.
package verify
