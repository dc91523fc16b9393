// Package cli has `caddy robots`, its commands check and status, and what all its commands have
// in common. Package commands and steps add the others: see Add.
//
//	cmd := cli.NewCommand("count <file>", "Counts rules", cli.Needs(1, "a robots.txt"), count)
//	cli.AddDialectFlag(cmd, &dialect)
//	body, err := cli.ReadRobots(ctx, "https://example.com", os.Stdin)
//	err = cli.Layout{Paint: cli.PaintFor(os.Stdout)}.Execute(os.Stdout, template, nil, rows)
//
// Texts of others are not trusted: what is printed has no control characters, and URLs have no
// passwords.
package cli
