package commands

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/page"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// openLogs opens the logs that the arguments (files and globs) name. again are the flags for
// which they are read several times.
func openLogs(args []string, stdin io.Reader, again ...string) (files []logfile.File, err error) {
	seen := map[string]bool{}
	for _, arg := range args {
		if arg == "-" {
			if seen["-"] {
				return nil, errors.New("standard input can be read only once")
			}
			seen["-"] = true
			files = append(files, logfile.File{
				Name: "standard input", Once: true,
				Open: func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil },
			})
			continue
		}
		names, err := logNames(arg)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			info, err := os.Stat(name)
			switch {
			case err != nil:
				return nil, err
			case info.IsDir():
				return nil, fmt.Errorf("%s is a folder: name the logs in it, for example %s", name, filepath.Join(name, "*.log*"))
			}
			files = append(files, logfile.File{
				Name: name, Once: !info.Mode().IsRegular(),
				Open: func() (io.ReadCloser, error) { return os.Open(name) },
			})
		}
	}
	if len(again) > 0 && slices.ContainsFunc(files, func(f logfile.File) bool { return f.Once }) {
		return nil, fmt.Errorf("%s reads the log several times: give it as a file, not as standard input or a pipe", again[0])
	}
	return files, nil
}

// proxies is the value of --trusted-proxies.
type proxies []netip.Prefix

// addTo adds the flag to a command.
func (p *proxies) addTo(cmd *cobra.Command) {
	cmd.Flags().Func("trusted-proxies", "address or network of proxies whose X-Forwarded-For names the client, or private_ranges; may be repeated",
		func(text string) error {
			if text == privateRanges {
				*p = append(*p, netip.Prefix{})
				return nil
			}
			network, err := netip.ParsePrefix(text)
			if addr, isAddr := netip.ParseAddr(text); isAddr == nil {
				network, err = addr.Prefix(addr.BitLen())
			}
			if err != nil {
				return fmt.Errorf("want an address, a network such as 192.0.2.0/24, or %s", privateRanges)
			}
			*p = append(*p, network)
			return nil
		})
}

// privateRanges stands for all private addresses, as in Caddy's trusted_proxies.
const privateRanges = "private_ranges"

// trusts reports whether an address is that of a proxy.
func (p proxies) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool {
		return network.Contains(addr) || !network.IsValid() && netaddr.IsSpecial(addr)
	})
}

// logNames returns the files that an argument names: the argument itself, or
// the files that a glob matches.
func logNames(arg string) ([]string, error) {
	if _, err := os.Lstat(arg); err == nil || !strings.ContainsAny(arg, "*?[") {
		return []string{arg}, nil
	}
	names, err := filepath.Glob(arg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s matches no file", arg)
	}
	return names, nil
}

// pageStart is the beginning of every report.
const pageStart = "<!DOCTYPE html>"

// checkPage checks that a file can be written that --html names. It is called before the logs
// are read, so that an error is reported at once. It returns an error for a file that is not a
// report, for example a log that was named by mistake.
func checkPage(name string) error {
	_, missing := os.Lstat(name)
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	start := make([]byte, len(pageStart))
	n, _ := io.ReadFull(file, start)
	_ = file.Close()
	if missing != nil {
		return os.Remove(name) // until there is a report
	}
	if n > 0 && string(start[:n]) != pageStart {
		return fmt.Errorf("--html would overwrite %s, which is not a report: use another file name, or delete the file first", name)
	}
	return nil
}

// writePage writes the report.
func writePage(name string, r *audit.Report) error {
	file, err := os.Create(name)
	if err == nil {
		err = errors.Join(page.Write(file, r), file.Close())
	}
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}
