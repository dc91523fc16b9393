// Package suspicion connects package suspect, which finds the clients that send a
// browser's User-Agent and behave like robots, to the requests of a server: it
// counts their requests, applies the rules for * to them, and answers them with a
// page that has a button for people. It keeps the key of trap URLs in the server's
// storage and shares signals with the other servers of a fleet. It identifies no
// crawlers; package enforce does.
//
//	visitors := suspicion.NewVisitors()
//	s := suspicion.New(visitors, traps, bind, suspect.DefaultFor)
//	s.Observe(&visit, &request, r, true)
//	engine.Decide(ctx, &request, &decision)
//	if decision.Reason == enforce.Suspected {
//		return s.Refuse(w, &request, r)
//	}
package suspicion
