// Package command has what the commands below `caddy robots` have in common: how their
// arguments are checked, the flags of several of them, how errors are said, and which exit
// status a finding has.
//
//	cmd := command.New("count <file>", "Counts rules", command.Needs(1, "a robots.txt"), count)
//	command.AddDialectFlag(cmd, &dialect)
package command
