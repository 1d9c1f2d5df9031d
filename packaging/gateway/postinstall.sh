#!/bin/sh
# Makes the user and the folders. It starts nothing, because gateway.toml says nothing yet; a centre that runs is
# restarted. clawai-gateway refuses secrets that others can read, and gateway.toml may hold the address of a database.
set -e
case "${1:-}" in abort-*) exit 0 ;; esac
user=clawai-gateway etc=/etc/clawai-gateway state=/var/lib/clawai-gateway
systemd-sysusers clawai-gateway.conf
install -d -m 0750 -o root -g "$user" "$etc"
install -d -m 0700 "$etc/credentials"
install -d -m 0700 -o "$user" -g "$user" "$state"
if [ -e "$etc/gateway.toml" ]; then # dpkg does not bring back a file that its owner removed
  chown "$user:$user" "$etc/gateway.toml"
  chmod 0600 "$etc/gateway.toml"
fi
[ -e "$state/gateway.toml" ] || [ -h "$state/gateway.toml" ] || ln -s "$etc/gateway.toml" "$state/gateway.toml"
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  # The package is installed, whatever keeps the centre from starting again, such as a database that is away.
  systemctl try-restart clawai-gateway.service ||
    echo "clawai-gateway: the centre did not start again; to see why: journalctl -u clawai-gateway" >&2
fi
