package throttle

import "time"

// FleetState says whether a Fleet can call its server.
type FleetState uint8

const (
	// FleetConnecting is the state of a new Fleet. The Fleet decides alone.
	FleetConnecting FleetState = iota
	// FleetUp means that the server answers.
	FleetUp
	// FleetDown means that the server is unavailable. The Fleet decides alone.
	FleetDown
)

var fleetStateNames = [...]string{FleetConnecting: "connecting", FleetUp: "up", FleetDown: "down"}

// String returns connecting, up or down.
func (s FleetState) String() string {
	if int(s) < len(fleetStateNames) {
		return fleetStateNames[s]
	}
	return ""
}

// Engine says which part of a Fleet decided on a request.
type Engine uint8

const (
	// EngineLocal is this process, by the last known state of the shared
	// budget.
	EngineLocal Engine = iota
	// EngineRemote is the script in the server.
	EngineRemote
	// EngineFallback is this process alone, while the server is unavailable.
	EngineFallback
)

var engineNames = [...]string{EngineLocal: "local", EngineRemote: "remote", EngineFallback: "fallback"}

// String returns local, remote or fallback.
func (e Engine) String() string {
	if int(e) < len(engineNames) {
		return engineNames[e]
	}
	return ""
}

// Observer receives the events of a Fleet, for logs and metrics. Its methods
// are called on the request path, from any goroutine. They must be safe for
// concurrent use, must not block, and must not call the Fleet.
type Observer interface {
	// FleetState is called for each change of the state. err is its cause; it
	// is nil for FleetUp.
	FleetState(s FleetState, err error)
	// FleetCall is called after each round trip to the server. err is nil if it
	// succeeded.
	FleetCall(took time.Duration, err error)
	// FleetRefusal is called for each refused request.
	FleetRefusal(by Engine)
	// FleetFallback is called for each request that the process decides on
	// alone because it could not call the server.
	FleetFallback()
}

// noObserver is the default Observer. It does nothing.
type noObserver struct{}

func (noObserver) FleetState(FleetState, error)   {}
func (noObserver) FleetCall(time.Duration, error) {}
func (noObserver) FleetRefusal(Engine)            {}
func (noObserver) FleetFallback()                 {}
