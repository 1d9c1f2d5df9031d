#!/bin/sh
# Debian says "remove", RPM 0. An upgrade leaves the centre running until the new one is there.
set -e
case "${1:-}" in remove | 0) ;; *) exit 0 ;; esac
if [ -d /run/systemd/system ]; then
  systemctl --no-reload disable --now clawai-gateway.service
fi
