package lint

import (
	"fmt"
	"strings"
)

// manual returns the pages of all checks as one Markdown document, with an
// introduction.
func manual() string {
	var b strings.Builder
	b.WriteString(manualIntro)
	b.WriteString("| check | severity | finds |\n|---|---|---|\n")
	for _, r := range Checks() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", r.Code, r.Code, r.Severity, cell.Replace(inCode(r.Title)))
	}
	for _, r := range Checks() {
		b.WriteString("\n" + r.Page())
	}
	return b.String()
}

// cell escapes the characters that end a cell of a Markdown table.
var cell = strings.NewReplacer("|", `\|`)

const manualIntro = `# Rules of the linter

<!-- Generated from the checks in robots/lint: go test ./robots/lint -run TestManual -update -->

` + "`caddy robots lint` finds mistakes in robots.txt files. `caddy robots explain CODE` prints the page of a check." + `

A finding is an **error** if a line does not do what it was written for, a **warning** if some crawlers read it
differently or it has no effect, and an **info** if it is correct but could be simpler. Infos are reported only with
` + "`--info`, or if `--select` names the check." + `

## Choose checks

` + "`--select CODE,CODE` reports only these checks, `--ignore CODE,CODE` all other checks." + ` A comment in the file suppresses
findings on the next line that is not a comment:

` + "```" + `
# robots-lint: ignore misspelt-key, missing-slash
Dissallow: private/
` + "```" + `

At the end of a line, the comment suppresses findings on that line. ` + "`# robots-lint: ignore-file CODE`" + ` suppresses findings in
the whole file; it may be on any line. The linter reports codes that do not exist, and comments that suppress nothing.

## Corrections

| flag | makes | promise |
|---|---|---|
| ` + "`--fix`" + ` | safe corrections | no verdict and no limit changes for a crawler that reads the file as RFC 9309 says, as google/robotstxt does, or exactly as the standard of 1994 says |
| ` + "`--unsafe-fixes`" + ` | safe and unsafe corrections | no verdict and no limit changes for a crawler that follows RFC 9309 and accepts the same mistakes as this parser (misspelt keys, missing colons). Other crawlers may then read lines that they ignored before. A path that is not UTF-8, as RFC 9309 requires, is read as Windows-1252 |

Fuzz tests check both promises. Neither flag applies a suggestion that changes the meaning of the file.

## All checks

`
