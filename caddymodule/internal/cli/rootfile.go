package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/proposal"
)

// rootFile returns the path of the robots.txt in the root folder of a site of the
// configuration, as `caddy robots init` finds it. It returns "" if there is no such
// file, or if the site has several root folders.
func (c *configFlags) rootFile(site *Site) (string, error) {
	config, err := c.module.Config(c.path)
	if err != nil {
		return "", err
	}
	all, err := proposal.Read(config)
	if err != nil {
		return "", err
	}
	root := ""
	for i := range all {
		switch s := &all[i]; {
		case !s.Robots || !slices.Equal(s.Hosts, site.Hosts) || s.Port != 0 && !site.listensAt(strconv.FormatUint(uint64(s.Port), 10)):
		case s.Roots != 1 || strings.Contains(s.Root, "{") || root != "" && root != s.Root:
			return "", nil
		default:
			root = s.Root
		}
	}
	if root == "" {
		return "", nil
	}
	file := filepath.Join(root, "robots.txt")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return file, nil
}
