// Package allsites reads from a configuration what its sites serve: also those without a
// robots handler.
//
//	sites, err := allsites.Read(config) // as JSON
package allsites
