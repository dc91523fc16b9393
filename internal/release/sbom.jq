# Makes a list of the modules in a program (CycloneDX 1.6) of what
# `go version -m -json PROGRAM` prints. $version is the program's.
def library: {type: "library", name: .Path, version: .Version, purl: "pkg:golang/\(.Path)@\(.Version)"};
{
	bomFormat: "CycloneDX",
	specVersion: "1.6",
	version: 1,
	metadata: {component: {type: "application", name: .Main.Path, version: $version, purl: "pkg:golang/\(.Main.Path)@\($version)"}},
	components: ([{Path: "std", Version: .GoVersion} | library] + [.Deps[] | .Replace // . | library])
}
