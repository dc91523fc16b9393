// Package input reads the files, URLs and standard input that commands name.
//
//	body, err := input.Robots(ctx, "https://example.com", os.Stdin)
//
// What it prints of a URL has no password.
package input
