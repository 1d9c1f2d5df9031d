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
chown "$user:$user" "$etc/gateway.toml"
chmod 0600 "$etc/gateway.toml"
[ -e "$state/gateway.toml" ] || [ -h "$state/gateway.toml" ] || ln -s "$etc/gateway.toml" "$state/gateway.toml"
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart clawai-gateway.service
fi
