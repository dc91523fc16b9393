// Package shed decides which robots are refused while a server is busy. A server
// is busy while too many requests wait for their answer, or while people wait too
// long for theirs.
//
//	load := shed.New(shed.Config{InFlight: 64, Order: order})
//	...
//	if rank, ok := order.RankOf(&request, &decision, false); !ok {
//		place = load.Enter(shed.Request{Now: now})
//	} else if place, ok = load.EnterRobot(now, rank); !ok {
//		return // refused
//	}
//	defer load.Leave(place)
//
// The kinds of robots are refused one after the other, as long as the load stays:
// see Order. If robots are less than a tenth of what arrives, or if it does not
// help to refuse them, they are let through. People are never refused. The package
// knows nothing of HTTP, and all times are given to it.
package shed
