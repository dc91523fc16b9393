// Package output prints what commands find: text with tables and colours that fits the
// terminal, JSON, and words of command lines.
//
//	layout := output.Layout{Paint: output.PaintFor(os.Stdout)}
//	err := layout.Execute(os.Stdout, "{{head}}name\t>size\n{{range .}}…{{end}}", nil, rows)
//
// Texts are not trusted: the package escapes control characters in text for a terminal.
package output
