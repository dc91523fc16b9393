# Runs a script as on a machine with Caddy's package: in a copy of the root that
# vanishes with the process, with its own network and processes. $1 is a folder with the files
# stock (Caddy), caddy.service and script, and $2 the program to install.
set -eu
mount -t tmpfs none "$1/machine"
mkdir "$1/machine/upper" "$1/machine/work" "$1/machine/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/machine/upper,workdir=$1/machine/work" "$1/machine/root"
cd "$1/machine/root"
mount -t proc proc proc
for folder in dev sys; do mount --rbind "/$folder" "$folder"; done
ip link set lo up
rm -rf etc/systemd/system/caddy.service* usr/local/bin/caddy* usr/bin/caddy* var/lib/caddy etc/caddy
mkdir -p etc/caddy home/admin
install -m 755 "$1/stock" usr/bin/caddy
install -m 755 "$2" home/admin/caddy
cp "$1/caddy.service" lib/systemd/system/caddy.service
cp "$1/script" home/admin/script

cat >usr/local/bin/sudo <<'END'
#!/bin/sh
case $1 in
-u) user=$2; shift 2; export HOME=/var/lib/caddy; exec setpriv --reuid "$user" --regid "$user" --init-groups "$@" ;;
esac
exec "$@"
END

# What systemd would do, with the commands of the unit and its override file.
cat >usr/local/bin/systemctl <<'END'
#!/bin/bash
setting() { cat /lib/systemd/system/caddy.service $(ls /etc/systemd/system/caddy.service.d/*.conf 2>/dev/null) | sed -n "s/^$1=//p" | tail -n 1; }
case "$*" in
daemon-reload) ! systemd-analyze verify caddy.service 2>&1 | grep -F caddy.service ;;
"restart caddy")
	if [ -e /run/caddy.pid ]; then
		kill "$(cat /run/caddy.pid)"
		tail --pid "$(cat /run/caddy.pid)" -f /dev/null
	fi
	: >/run/caddy.log
	HOME=/var/lib/caddy setpriv --reuid caddy --regid caddy --init-groups --inh-caps +net_bind_service --ambient-caps +net_bind_service $(setting ExecStart) >>/run/caddy.log 2>&1 &
	echo $! >/run/caddy.pid
	until grep -q 'serving initial configuration' /run/caddy.log; do # when it notifies systemd
		kill -0 $! || { tail /run/caddy.log; exit 1; }
		sleep 0.05
	done ;;
"reload caddy") sudo -u caddy $(setting ExecReload) ;;
*) echo "systemctl $*: not known"; exit 1 ;;
esac
END
chmod 755 usr/local/bin/sudo usr/local/bin/systemctl
exec chroot . bash -c 'groupadd --system caddy 2>/dev/null; useradd --system --gid caddy --create-home --home-dir /var/lib/caddy --shell /usr/sbin/nologin caddy 2>/dev/null
cd /home/admin && exec bash -eu script'
