#!/bin/sh
# A purge takes the settings. The records of a team and the keys to them are no package's to remove.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
[ "${1:-}" = purge ] || exit 0
rm -f /var/lib/clawai-gateway/gateway.toml /var/lib/clawai-gateway/gateway.lock
for dir in /etc/clawai-gateway/credentials /etc/clawai-gateway /var/lib/clawai-gateway; do
  if [ -d "$dir" ]; then
    rmdir --ignore-fail-on-non-empty "$dir"
  fi
  if [ -d "$dir" ]; then
    echo "clawai-gateway: $dir is kept, because it has files; to remove them: rm -r $dir"
  fi
done
