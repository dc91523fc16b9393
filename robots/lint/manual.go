package lint

import (
	"fmt"
	"strings"
)

// Manual returns the pages of all rules as one Markdown document, with an
// introduction.
func Manual() string {
	var b strings.Builder
	b.WriteString(manualIntro)
	b.WriteString("| rule | severity | finds |\n|---|---|---|\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", r.Code, r.Code, r.Severity, cell.Replace(inCode(r.Title)))
	}
	for _, r := range rules {
		b.WriteString("\n" + r.Page())
	}
	return b.String()
}

// cell escapes the characters that end a cell of a Markdown table.
var cell = strings.NewReplacer("|", `\|`)

const manualIntro = `# Rules of the linter

<!-- Generated from the rules in robots/lint: go test ./robots/lint -run TestManual -update -->

` + "`caddy robots lint` finds mistakes in robots.txt files. `caddy robots explain CODE` prints the page of a rule." + `

A finding is an **error** where a line does not do what it was written for, a **warning** where some crawlers read it
differently or it has no effect, and an **info** where it is correct and could be simpler. Infos are reported with
` + "`--info`, or where `--select` names the rule." + `

## Choosing rules

` + "`--select CODE,CODE` reports only these rules, `--ignore CODE,CODE` all but these." + ` A comment in the file suppresses
findings of the next line that is not a comment itself:

` + "```" + `
# robots-lint: ignore misspelt-key, missing-slash
Dissallow: private/
` + "```" + `

At the end of a line it suppresses those on that line. ` + "`# robots-lint: ignore-file CODE`" + `, anywhere in the file, suppresses
those of the whole file. Codes that do not exist, and comments that suppress nothing, are findings.

## Corrections

| flag | makes | promise |
|---|---|---|
| ` + "`--fix`" + ` | safe corrections | no verdict and no limit changes for a crawler that reads the file as RFC 9309 says, as google/robotstxt does, or exactly as the standard of 1994 says |
| ` + "`--unsafe-fixes`" + ` | these and the unsafe ones | no verdict and no limit changes for a crawler that follows RFC 9309 with the tolerance of this parser (misspelt keys, missing colons). Other crawlers may then read lines that they ignored before |

Both promises are fuzzed. Suggestions that would change what the file means are never made by either.

## All rules

`
