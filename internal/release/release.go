// Package release knows which release of the plugin runs. Its tests build and
// run what a release consists of.
package release

import (
	"runtime/debug"
	"strings"
)

// modulePath is the path of the Go module with this package.
const modulePath = "github.com/caddy-robots/caddy-robots"

// version is set by the linker in builds of a release, whose sources come
// without their history.
var version string

// Version returns the version of the plugin in the binary, such as "v0.1.0", and
// "devel" for a build from a clone without a tag.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == modulePath && strings.HasPrefix(m.Version, "v") {
				return m.Version
			}
		}
	}
	return "devel"
}
