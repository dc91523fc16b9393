// Package visitors watches the clients that send a browser's User-Agent: it passes
// their requests to package suspect, which finds those that behave like robots. It
// says to which of them the rules for * apply. It keeps the key of trap URLs in the
// server's storage and shares signals with the other servers of a fleet. It identifies no
// crawlers; package enforce does.
//
//	memory := visitors.NewMemory()
//	w := visitors.New(memory, traps, bind, suspect.DefaultFor)
//	client.Suspect = w.Observe(&visit, &request, r, rules)
//	client.Judge(&decision)
package visitors
