package throttle

import "time"

// FleetState is whether a Fleet can ask its server.
type FleetState uint8

const (
	// FleetConnecting is the state of a new Fleet. It decides alone.
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

// Engine is what decided a request of a Fleet.
type Engine uint8

const (
	// EngineLocal is this process, by what it knows of the fleet's budget.
	EngineLocal Engine = iota
	// EngineRemote is the server.
	EngineRemote
	// EngineFallback is this process alone, while the server is away.
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

// Observer is told what happens in a Fleet. Its methods are called on the
// request path, from any goroutine, and must neither block nor call the Fleet.
type Observer interface {
	// FleetState reports a change of state and its cause, which is nil for
	// FleetUp.
	FleetState(s FleetState, err error)
	// FleetCall tells of one round trip to the server.
	FleetCall(took time.Duration, err error)
	// FleetRefusal tells of a refused request.
	FleetRefusal(by Engine)
	// FleetFallback tells of a request that was decided without the server,
	// as it could not be asked.
	FleetFallback()
}

// noObserver is the Observer of those who have none.
type noObserver struct{}

func (noObserver) FleetState(FleetState, error)   {}
func (noObserver) FleetCall(time.Duration, error) {}
func (noObserver) FleetRefusal(Engine)            {}
func (noObserver) FleetFallback()                 {}
