// Package response adds header fields to the responses of the next handlers:
// X-Robots-Tag by the rules of x_robots_tag, by Noindex lines of robots.txt and by
// robots meta tags; and Content-Signal, Content-Usage and Link by lines of
// robots.txt. It also sees when a crawler has read /robots.txt,
// and when a response begins.
//
//	fields := response.Fields{Table: table, Meta: true}
//	err := fields.Serve(w, r, target, &decision, next)
//
// It neither decides on requests nor writes a response of its own.
package response
