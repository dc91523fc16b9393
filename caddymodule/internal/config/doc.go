// Package config has the settings of robots: their JSON form, their Caddyfile
// syntax, the checks of their values, and their conversion to the settings of
// the engine.
//
//	settings, err := config.Parse(dispenser, defaults)
//	...
//	err = settings.Complete(defaults)
//	...
//	engineSettings, err := settings.EngineSettings()
//
// The package needs no running server. Checking and parsing settings reads no
// files and uses no network.
package config
