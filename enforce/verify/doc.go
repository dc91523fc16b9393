// Package verify checks whether a request comes from the crawler that its
// User-Agent names. A User-Agent is a claim: anybody can send one.
//
// Three methods exist, and the registry says which of them a crawler's operator
// documents: published address lists, forward-confirmed reverse DNS, and
// signatures of requests (Web Bot Auth, RFC 9421). No method makes a request
// wait: lists are held in memory, DNS is asked in the background and its
// answers are cached, and a signature is checked with keys that were fetched
// before.
//
//	v := verify.New(verify.Config{Lists: true, DNS: true, Signatures: true})
//	checker, err := v.Bind(crawler.Builtin())
//	v.Start()
//	defer v.Close()
//	result := checker.Address(row, verify.Client{Addr: addr, Proof: &proof}, time.Now())
//	if result.State == verify.Impostor { /* 403 */ }
//
// The package knows nothing of Caddy, logs nothing and registers no metrics: an
// Observer is told what happens in the background.
package verify
