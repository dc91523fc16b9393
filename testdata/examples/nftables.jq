# nftables: drops the packets of impostors in Caddy's access log. A load replaces the set.
# Only clients that connect to Caddy themselves are in it: the address of a CDN's client is
# in no packet.
def set(type; name): if length == 0 then "" else "\tset \(name) {\n\t\ttype \(type)\n\t\telements = { \(join(", ")) }\n\t}\n" end;
def rule(family; name): if length == 0 then "" else "\t\t\(family) saddr @\(name) tcp dport { 80, 443 } drop\n\t\t\(family) saddr @\(name) udp dport 443 drop\n" end;
[inputs | select(.robots.reason == "impostor" and .robots.action == "deny").request | select(.client_ip == .remote_ip).client_ip]
| unique | map(select(test("^[0-9.]+$"))) as $v4 | map(select(test(":"))) as $v6
| "table inet caddy_robots\ndelete table inet caddy_robots\ntable inet caddy_robots {\n"
	+ ($v4 | set("ipv4_addr"; "impostors4")) + ($v6 | set("ipv6_addr"; "impostors6"))
	+ "\tchain input {\n\t\ttype filter hook input priority filter - 1\n"
	+ ($v4 | rule("ip"; "impostors4")) + ($v6 | rule("ip6"; "impostors6")) + "\t}\n}"
