package e2e_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// status runs `caddy robots status` and returns what it prints.
func (s *server) status(args ...string) (string, error) {
	cmd := exec.Command(binary, append([]string{"robots", "status", "--address", fmt.Sprintf("localhost:%d", s.admin)}, args...)...)
	cmd.Env = s.env()
	out, err := cmd.Output()
	return string(out), err
}

// reasonsAddUp checks that the numbers of refused requests in the status are the sums
// of those by reason, and that the reasons are among them.
func (s *server) reasonsAddUp(reasons ...string) {
	s.t.Helper()
	out, _ := s.status() // the exit status says whether there is a problem
	found, lines := map[string]bool{}, 0
	for _, m := range regexp.MustCompile(`(?mi)^ *(?:denied|throttled): +(\d+)(?:: (.*))?$`).FindAllStringSubmatch(out, -1) {
		sum := 0
		for part := range strings.SplitSeq(m[2], ", ") {
			if reason, number, ok := strings.Cut(part, " "); ok {
				n, _ := strconv.Atoi(number)
				sum += n
				found[reason] = true
			}
		}
		if lines++; strconv.Itoa(sum) != m[1] {
			s.t.Errorf("%s is not the sum", m[0])
		}
	}
	for _, reason := range reasons {
		if !found[reason] {
			s.t.Errorf("no request was refused for %s", reason)
		}
	}
	if lines < 2 || s.t.Failed() {
		s.t.Errorf("status:\n%s", out)
	}
}
