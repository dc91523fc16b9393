package enforce

import "testing"

// Policy.Status tells the answers without a file apart.
func TestStatusOfAPolicy(t *testing.T) {
	for answer, want := range map[int]int{200: 0, 401: 401, 403: 403, 404: 404, 410: 410, 429: 0, 503: 0} {
		p, err := Rules{}.Policy(Response{Status: answer, Body: []byte(open)})
		if err != nil || p.Status() != want {
			t.Errorf("answer %d: status %d, want %d, error %v", answer, p.Status(), want, err)
		}
	}
}
