package notify

import (
	"embed"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// help has the help of the command.
//
//go:embed help/*.txt
var help embed.FS

func newCommand(cli.Module) *cobra.Command {
	return cli.NewCommand("notify <url>...", "Sends a test message to URLs of the setting notify", cobra.MinimumNArgs(1),
		func(cmd *cobra.Command, urls []string) error {
			failed := 0
			for i, raw := range urls {
				name := fmt.Sprint("URL ", i+1)
				a, err := resolve(raw)
				if err == nil {
					name, err = a.name, a.test()
				}
				if err != nil {
					failed++
					fmt.Fprintf(cmd.OutOrStdout(), "failed  %s: %v\n", name, err)
					continue
				}
				fmt.Fprintf(cmd.OutOrStdout(), "sent    %s\n", name)
			}
			if failed > 0 {
				return fmt.Errorf("%d of %d URLs did not get the message", failed, len(urls))
			}
			return nil
		})
}

// test sends a message, and waits for the answer as long as patience.
func (a *address) test() error {
	answer := make(chan error, 1)
	background.Go("notify: a test", func() {
		answer <- a.send(&message{title: "robots: a test", body: "This is a test of caddy-robots. Nothing is wrong."})
	})
	select {
	case err := <-answer:
		return err
	case <-time.After(patience):
		return fmt.Errorf("no answer within %s", patience)
	}
}
