// Package clock tells the time of requests, budgets and accidents.
package clock

import "github.com/caddy-robots/caddy-robots/enforce/throttle"

// shared is a wall clock that does not go back when the system's clock is set back by a
// little, so that no budget is lost or doubled.
var shared throttle.Clock

// Now returns the time. It is a variable for end-to-end tests, which replace it before a
// server starts, so that they need not wait for minutes to pass.
var Now = shared.Now
