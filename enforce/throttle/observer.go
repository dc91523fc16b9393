package throttle

import "time"

// States of a Fleet: whether it can call its server.
const (
	// fleetConnecting is the state of a new Fleet. The Fleet decides alone.
	fleetConnecting = "connecting"
	// FleetUp means that the server answers: in a cluster, every master.
	FleetUp = "up"
	// FleetDown means that the server, or a master of a cluster, is unavailable.
	// The Fleet decides alone about the keys on it.
	FleetDown = "down"
)

// Parts of a Fleet that decide on a request.
const (
	engineLocal    = "local"    // this process, by the last known state of the shared budget
	engineRemote   = "remote"   // the script in the server
	engineFallback = "fallback" // this process alone, while the server is unavailable
)

// Observer receives the events of a Fleet, for logs and metrics. Its methods
// are called on the request path, from any goroutine. They must be safe for
// concurrent use, must not block, and must not call the Fleet.
type Observer interface {
	// FleetState is called for each change of the state. err is its cause; it
	// is nil for FleetUp.
	FleetState(state string, err error)
	// FleetCall is called after each round trip to the server. err is nil if it
	// succeeded.
	FleetCall(took time.Duration, err error)
	// FleetRefusal is called for each refused request. by is the part of the Fleet that refused it: "local", by the last known state of the
	// shared budget; "remote", the script in the server; "fallback", the process alone, because the server is unavailable.
	FleetRefusal(by string)
	// FleetFallback is called for each request that the process decides on
	// alone because it could not call the server.
	FleetFallback()
}
