package logformat

// Problem says why a line could not be parsed as a request.
type Problem uint8

// The problems that callers distinguish.
const (
	None      Problem = iota // no problem
	NoRequest                // not the line of a request, and not an error
	TooLong                  // for callers that read lines of bounded length
	hasNUL
	unknownFormat
	cutOff
	badTime
	badRequest
	badStatus
	badJSON
	badColumns
	noFields
	Problems // the number of problems
)

var problemTexts = [Problems]string{
	TooLong:       "longer than 1 MiB",
	hasNUL:        "has a NUL octet",
	unknownFormat: "does not have the format of the log",
	cutOff:        "ends too early",
	badTime:       "has no valid time",
	badRequest:    "has no valid request",
	badStatus:     "has no valid status",
	badJSON:       "is not valid JSON",
	badColumns:    "has more columns than #Fields",
	noFields:      "is before the first #Fields",
}

// String returns the problem in words.
func (p Problem) String() string { return problemTexts[p] }
