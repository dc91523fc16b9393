// Package shed decides which robots are refused while a server is busy. A server
// is busy while too many requests wait for their answer.
//
//	load := shed.New(64)
//	...
//	if kind, ok := shed.StepOf(&request, &decision); !ok {
//		place = load.Enter(now, hasBody)
//	} else if place, ok = load.EnterRobot(now, kind, address); !ok {
//		return // refused
//	}
//	defer load.Leave(place)
//
// The kinds of robots are refused one after the other, as long as the load stays:
// see Steps. If robots are less than a tenth of what arrives, or if it does not
// help to refuse them, they are let through. People are never refused. The package
// knows nothing of HTTP, and all times are given to it.
package shed
