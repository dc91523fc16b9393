#!/bin/sh
# Prints the licences of a program: Go's, then those of each module whose packages
# are in it, with their notices (Apache-2.0, section 4). The arguments are its
# packages. GOOS and GOARCH say for which system. Fails for a module without a licence.
set -eu
print() { printf '\n==== %s: %s\n\n' "$1" "${2##*/}"; cat "$2"; }
list=$(go list -deps -f '{{with .Module}}{{.Path}} {{.Version}}|{{.Dir}}{{end}}' "$@" | sort -u)
print Go "$(go env GOROOT)/LICENSE"
echo "$list" | while IFS='|' read -r module dir; do
	files=$(find "$dir" -maxdepth 1 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' \) | sort)
	[ -n "$files" ] || { echo "no licence: $module" >&2; exit 1; }
	echo "$files" | while read -r file; do print "$module" "$file"; done
done
